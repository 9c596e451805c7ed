/**
 * Longer names are no models'. They stand in caches, logs and questions to servers, which must not grow by what a
 * client or a server makes up.
 */
export const MODEL_NAME_CHARS_MAX = 256
