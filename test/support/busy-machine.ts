/** For the functions of a service under test: their deadlines are longer, as other tests keep the machine busy. */
export const busyMachine = { DEADLINE_FACTOR: "3" } as const;
