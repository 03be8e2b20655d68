/** What API Gateway lets through on one method, a verb on a path. Each method has a token bucket of its own. */
export interface Throttling {
  /** Requests a second, which refill the bucket. */
  readonly rate: number;
  /** The size of the bucket: requests at the same time. */
  readonly burst: number;
}

/**
 * The quotas of a new account in most regions, which all its APIs share there.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
 */
export const accountThrottling: Throttling = { rate: 10_000, burst: 5_000 };

/** The burst that belongs to a rate: half of it, as in API Gateway's quotas for an account. */
export function burstOf(rate: number): number {
  return Math.ceil(rate / 2);
}

/** The traits in which stages differ. */
export interface StageTraits {
  /** Whether data of the operator can be recovered and outlives the stack, and the stack cannot be deleted. */
  readonly keepsData: boolean;
  /** Whether some numbers belong to nobody and always get the same answers (`docs/sandbox.md`). */
  readonly sandbox: boolean;
  /** One of the periods that CloudWatch has. */
  readonly logRetentionDays: number;
  /** Whether a release gets a tenth of the requests first and is rolled back when it fails. */
  readonly releasesGradually: boolean;
  readonly dashboard: boolean;
  /** Whether alarms watch the service's objectives (`objectives.ts`). */
  readonly objectives: boolean;
  /** Whether a deployment must say whom alarms notify, or that they notify nobody. */
  readonly alarmsNotify: boolean;
  /** Whether a deployment must name its account and region, or say that any will do. */
  readonly isPinned: boolean;
  /**
   * Requests on each method of an operation, of all callers together, unless `throttling.ts` has another limit for it:
   * far above what one caller's quota allows. Synthesis fails where all methods together exceed an account's quotas
   * (`refuseMoreThanAnAccountHas` in `throttling.ts`).
   */
  readonly methodThrottling: Throttling;
  /** The executions that logins may keep busy if none are reserved for them. */
  readonly loginExecutions: number;
  /** Maximum of concurrent delivery workers, unless a setting says another. */
  readonly maxWorkers: number;
}

/**
 * The one list of differences between stages; everything else is the same, so a local run of `dev` shows what `prod`
 * does. The default is `prod`: a forgotten option must not cost data. Each stage has stacks of its own names, so that
 * deploying one never turns the other into it.
 */
export const stages = {
  /** To try things out: deleted with its data, and as cheap as possible. */
  dev: {
    keepsData: false,
    sandbox: true,
    logRetentionDays: 7,
    releasesGradually: false,
    dashboard: false,
    objectives: false,
    alarmsNotify: false,
    isPinned: false,
    methodThrottling: { rate: 100, burst: 50 },
    loginExecutions: 10,
    maxWorkers: 10,
  },
  /** For callers. */
  prod: {
    keepsData: true,
    sandbox: false,
    logRetentionDays: 90,
    releasesGradually: true,
    dashboard: true,
    objectives: true,
    alarmsNotify: true,
    isPinned: true,
    methodThrottling: { rate: 430, burst: 215 },
    loginExecutions: 50,
    maxWorkers: 50,
  },
} as const satisfies Record<string, StageTraits>;

/** The name of a stage, as `-c stage=` has it. */
export type Stage = keyof typeof stages;
