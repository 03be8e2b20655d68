import { Annotations, type RemovalPolicy } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import { CfnRotationSchedule, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import { rotationDays } from "../../shared/tokens/rotation.ts";

/** A secret that the stack makes or refers to. */
export interface SecretReference {
  readonly secretArn: string;
}

/**
 * The secret that holds the signing key of our tokens: one that exists already, or a new one.
 *
 * @param existingArn full ARN of a secret with a private JWK on P-256.
 * @param removalPolicy of a new secret.
 */
export function signingKeySecret(
  scope: Construct,
  existingArn: string | undefined,
  removalPolicy: RemovalPolicy,
): SecretReference {
  if (existingArn !== undefined) return { secretArn: existingArn };
  return new Secret(scope, "SigningKey", {
    description: "Private key that signs access tokens; its first value is made by the rotation function.",
    removalPolicy,
  });
}

/** Lets Secrets Manager rotate a secret with a function: at once, which makes the first key, then regularly. */
export function rotate(scope: Construct, secret: SecretReference, rotation: LambdaFunction): void {
  const permission = rotation.addPermission("InvokedBySecretsManager", {
    principal: new ServicePrincipal("secretsmanager.amazonaws.com"),
    sourceArn: secret.secretArn,
  });
  // Its versions are for the check of a release; Secrets Manager invokes the function itself.
  Annotations.of(rotation).acknowledgeWarning("@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias");
  const schedule = new CfnRotationSchedule(scope, "SigningKeyRotation", {
    secretId: secret.secretArn,
    rotationLambdaArn: rotation.functionArn,
    rotateImmediatelyOnUpdate: true,
    rotationRules: { automaticallyAfterDays: rotationDays },
  });
  schedule.node.addDependency(rotation);
  if (permission !== undefined) schedule.node.addDependency(permission);
}
