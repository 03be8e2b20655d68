import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";

/** Requests a second that API Gateway lets through, and how many may come at once on top. */
export interface Throttling {
  readonly rate: number;
  readonly burst: number;
}

/** What a stage has that another has not. */
export interface StageTraits {
  /** Whether data of the operator can be recovered and outlives the stack, and the stack cannot be deleted. */
  readonly keepsData: boolean;
  readonly logRetention: RetentionDays;
  /** Whether a release reaches a tenth of the requests first and is taken back when it fails. */
  readonly releasesGradually: boolean;
  /** Whether requests are sampled into X-Ray. */
  readonly traced: boolean;
  readonly dashboard: boolean;
  /** For all callers together: the outer shield, far above what one caller's quota allows. */
  readonly throttling: Throttling;
  /**
   * Executions that logins may take unless some are reserved for them. One hashes about a password a second, so it is
   * also how many logins API Gateway lets through in a second: more would take the executions of all other functions.
   */
  readonly loginExecutions: number;
}

/** The one place that tells the stages apart; everything else is the same in each. */
export const stages = {
  /** To try things out: gone without a trace, and as cheap as it can be. */
  dev: {
    keepsData: false,
    logRetention: RetentionDays.ONE_WEEK,
    releasesGradually: false,
    traced: false,
    dashboard: false,
    throttling: { rate: 100, burst: 200 },
    loginExecutions: 10,
  },
  /** For callers. */
  prod: {
    keepsData: true,
    logRetention: RetentionDays.THREE_MONTHS,
    releasesGradually: true,
    traced: true,
    dashboard: true,
    throttling: { rate: 1_000, burst: 2_000 },
    loginExecutions: 100,
  },
} as const satisfies Record<string, StageTraits>;

/** The name of a stage, as `-c stage=` says it. */
export type Stage = keyof typeof stages;

/** What becomes of something that holds data when the stack no longer has it. */
export function removalPolicyIn({ keepsData }: StageTraits): RemovalPolicy {
  return keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}
