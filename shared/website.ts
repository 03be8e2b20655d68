/** Pages for browsers, and the files that they load. They are not part of the API or its document. */
export interface Website {
  /** `<area>/<operation>`: the handler's file below `functions/`. */
  readonly id: `${string}/${string}`;
  /** Its name in logs and metrics. */
  readonly operationId: string;
  /** The paths, each answered to `GET` by the same function. */
  readonly paths: readonly `/${string}`[];
  /** Why they need no token. */
  readonly publicBecause: string;
}

/** Declares a website. `functions/areas.ts` lists it. */
export function website<const W extends Website>(declaration: W): W {
  return declaration;
}
