/** Pages for browsers, and the files that they load. They are no part of the API: its document does not name them. */
export interface Website {
  /** `<area>/<operation>`: the handler's file below `functions/`. */
  readonly id: `${string}/${string}`;
  /** What logs and metrics call it. */
  readonly operationId: string;
  /** Each is answered to `GET`, and leads to the same function. */
  readonly paths: readonly `/${string}`[];
  /** Why everybody may open them. */
  readonly publicBecause: string;
}

/** Declares a website. `functions/areas.ts` lists it. */
export function website<const W extends Website>(declaration: W): W {
  return declaration;
}
