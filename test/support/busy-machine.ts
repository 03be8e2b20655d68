/**
 * Settings of the functions under test: six times their deadlines, since three times was too little beside eighteen
 * other programs, and password hashes that cost a sixteenth.
 */
export const busyMachine = { DEADLINE_FACTOR: "6", PASSWORD_HASH_LN: "11" } as const;
