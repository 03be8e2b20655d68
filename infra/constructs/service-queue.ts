import { Duration } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { retentionDays } from "../../shared/sqs/queues.ts";

interface ServiceQueueProps {
  readonly key: IKey;
  /** Seconds a message is hidden once it is received. */
  readonly visibilitySeconds: number;
  readonly deadLetters?: { readonly queue: ServiceQueue; readonly maxReceiveCount: number };
}

/** A queue with the service defaults: encrypted with our key, over TLS only, messages kept as long as SQS can. */
export class ServiceQueue extends Queue {
  constructor(scope: Construct, id: string, { key, visibilitySeconds, deadLetters }: ServiceQueueProps) {
    super(scope, id, {
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      dataKeyReuse: Duration.hours(1),
      enforceSSL: true,
      retentionPeriod: Duration.days(retentionDays),
      visibilityTimeout: Duration.seconds(visibilitySeconds),
      ...(deadLetters === undefined
        ? {}
        : { deadLetterQueue: { queue: deadLetters.queue, maxReceiveCount: deadLetters.maxReceiveCount } }),
    });
  }
}
