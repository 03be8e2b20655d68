/**
 * For the functions of a service under test: their deadlines are longer, as other tests keep the machine busy, and
 * their password hashes cost a sixteenth, so as not to keep it busy.
 */
export const busyMachine = { DEADLINE_FACTOR: "3", PASSWORD_HASH_LN: "11" } as const;
