/** Writes a line to standard output. */
export type Print = (line: string) => void;
