/** Receives the logs of functions. */
export interface LogSink {
  write(chunk: string | Uint8Array): unknown;
}
