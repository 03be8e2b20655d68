import { RemovalPolicy } from "aws-cdk-lib";
import type { StageTraits } from "../stage.ts";

/**
 * The removal policy of key, secret, logs and ephemeral tables: CloudFormation deletes those that it made in a first
 * deployment that failed. Other tables are retained even then: an import of a restored one, too, is a creation that may
 * be rolled back.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
 */
export function removalPolicyIn({ keepsData }: StageTraits): RemovalPolicy {
  return keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
