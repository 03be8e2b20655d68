/** The longest assertion that is read: one with an RSA signature has less than 1,500 characters. */
export const maxAssertionCharacters = 8_192;

/** The longest time from the issue of an assertion, and from now, to its expiry. */
export const maxAssertionSeconds = 300;

/** The most public keys of a client: each may be tried on an assertion that names none. */
export const maxClientKeys = 10;
