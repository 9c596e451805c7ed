# The base is pinned by the digest of its index, which holds every platform: a tag may be moved, what is built by it may not.
# To renew it, look up a newer tag (`docker buildx imagetools inspect node:TAG` prints the index digest) and change tag and
# digest in all three stages, and `node` in package.json to the same version.
FROM node:24.21.0-alpine3.24@sha256:ebfe2f90462722a7a4de65e91990e97fe0d401c70e0e762c5b53302f905ec1c1 AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one fetches another Node, for machines whose own is too old.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

FROM node:24.21.0-alpine3.24@sha256:ebfe2f90462722a7a4de65e91990e97fe0d401c70e0e762c5b53302f905ec1c1 AS dependencies
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# What is optional for others comes with the image: peers that are not optional are installed, from the lock file as all else.
RUN npm pkg delete devDependencies peerDependenciesMeta
RUN npm ci --ignore-scripts

FROM node:24.21.0-alpine3.24@sha256:ebfe2f90462722a7a4de65e91990e97fe0d401c70e0e762c5b53302f905ec1c1
ENV NODE_ENV=production \
    FOLDGATE_HOST=0.0.0.0 \
    XDG_STATE_HOME=/var/lib
WORKDIR /app
COPY package.json LICENSE NOTICE ./
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY profiles profiles
# Records are the only thing that is written: the image runs with a read-only root.
RUN mkdir -m 0700 /var/lib/foldgate && chown 1000:1000 /var/lib/foldgate
# Nothing is installed at run time: whoever gets in finds no package manager.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
    /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
VOLUME /var/lib/foldgate
# The base image's `node`, as a number: Kubernetes cannot tell by a name that it is not root.
USER 1000:1000
EXPOSE 3653
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s --retries=3 CMD ["node", "dist/main.js", "health"]
ENTRYPOINT ["node", "dist/main.js"]
