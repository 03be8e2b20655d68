import * as z from "zod/mini";

const callerSchema = z.object({
  /** The client to which the quota applies, within its issuer; `sub` of an application's token that names no client. */
  client: z.string().check(z.minLength(1)),
  scopes: z.array(z.string()),
  /** Epoch second at which the token expires. */
  expires: z.number(),
  /** The subscription that a 3-legged token is bound to; a 2-legged token has none. */
  subscription: z.optional(z.string().check(z.minLength(1))),
  /** For which purposes it calls, as its token says: one, or several with spaces between them. */
  purpose: z.optional(z.string().check(z.minLength(1))),
});

/** The caller, from the verified token. */
export type Caller = z.infer<typeof callerSchema>;

/** The authorizer's context as API Gateway passes it to the functions: strings only. */
const contextSchema = z.object({
  client: z.string(),
  scope: z.string(),
  expires: z.string(),
  subscription: z.optional(z.string()),
  purpose: z.optional(z.string()),
});

/** The caller as the flat context of an authorizer's result. */
export function contextOf(caller: Caller): Record<string, string> {
  return {
    client: caller.client,
    scope: caller.scopes.join(" "),
    expires: String(caller.expires),
    ...(caller.subscription === undefined ? {} : { subscription: caller.subscription }),
    ...(caller.purpose === undefined ? {} : { purpose: caller.purpose }),
  };
}

/** Reads the caller from a request's context; `undefined` if there is none, so that functions fail closed. */
export function callerIn(context: unknown): Caller | undefined {
  const { success, data } = contextSchema.safeParse(context);
  if (!success) return undefined;
  const { scope, expires, ...rest } = data;
  return callerSchema.safeParse({
    ...rest,
    expires: Number(expires),
    scopes: scope.split(" ").filter(Boolean),
  }).data;
}
