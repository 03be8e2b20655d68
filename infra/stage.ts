import { RemovalPolicy } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";

/** Requests a second that API Gateway lets through, and how many may come at once on top. */
export interface Throttling {
  readonly rate: number;
  readonly burst: number;
}

/** The traits in which stages differ. */
export interface StageTraits {
  /** Whether data of the operator can be recovered and outlives the stack, and the stack cannot be deleted. */
  readonly keepsData: boolean;
  readonly logRetention: RetentionDays;
  /** Whether a release gets a tenth of the requests first and is rolled back when it fails. */
  readonly releasesGradually: boolean;
  /** Whether requests are sampled into X-Ray. */
  readonly traced: boolean;
  readonly dashboard: boolean;
  /** For all callers together: the outer shield, far above what one caller's quota allows. */
  readonly throttling: Throttling;
  /**
   * The executions that logins may use if none are reserved for them. An execution hashes about one password a second,
   * so this is also the login rate of API Gateway: more would use the executions of all other functions.
   */
  readonly loginExecutions: number;
}

/** The one list of differences between stages; everything else is the same. */
export const stages = {
  /** To try things out: deleted with its data, and as cheap as possible. */
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

/** The removal policy of resources that hold data. */
export function removalPolicyIn({ keepsData }: StageTraits): RemovalPolicy {
  return keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}
