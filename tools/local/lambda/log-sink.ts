/** Where the logs of functions go. */
export interface LogSink {
  write(chunk: string | Uint8Array): unknown;
}
