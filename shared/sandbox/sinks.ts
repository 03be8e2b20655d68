/** A sink whose name never resolves (RFC 2606). */
export const unreachableSink = "https://sink.sandbox.example/densities";

/** The path of a sink on the service itself, which has no such route: it refuses every delivery with 404. */
export const refusingSinkPath = "/sandbox/sink";

/** The path of a sink that `npm start` has: it takes every delivery, and keeps nothing of it. */
export const acceptingSinkPath = "/sandbox/accepting-sink";
