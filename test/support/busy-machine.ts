/**
 * Settings of the functions under test: longer deadlines, since other tests keep the machine busy, and password hashes
 * that cost a sixteenth.
 */
export const busyMachine = { DEADLINE_FACTOR: "6", PASSWORD_HASH_LN: "11" } as const;
