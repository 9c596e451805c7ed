# syntax=docker/dockerfile:1

FROM node:24-alpine AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one fetches another Node, for machines whose own is too old.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

FROM node:24-alpine AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-alpine
ENV NODE_ENV=production \
    FOLDGATE_HOST=0.0.0.0 \
    XDG_STATE_HOME=/var/lib
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY profiles profiles
# Records are the only thing that is written: the image runs with a read-only root.
RUN mkdir -m 0700 /var/lib/foldgate && chown node:node /var/lib/foldgate
VOLUME /var/lib/foldgate
USER node
EXPOSE 3653
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 CMD ["node", "dist/main.js", "health"]
ENTRYPOINT ["node", "dist/main.js"]
