import { RemovalPolicy } from "aws-cdk-lib";
import type { StageTraits } from "../stage.ts";

/** The removal policy of resources that hold data. */
export function removalPolicyIn({ keepsData }: StageTraits): RemovalPolicy {
  return keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
}
