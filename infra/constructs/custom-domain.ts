import {
  DomainName,
  EndpointType,
  type IRestApi,
  type RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayDomain } from "aws-cdk-lib/aws-route53-targets";
import type { Construct } from "constructs";
import { outputNames } from "../output-names.ts";
import { addOutput } from "../outputs.ts";
import type { Domain } from "../settings.ts";

/**
 * The host name for callers, over TLS 1.2 or newer. Its records (IPv4 and IPv6) are created in the operator's zone;
 * without a zone, an output has the target for the operator's own records.
 */
export class CustomDomain extends DomainName {
  constructor(scope: Construct, id: string, api: RestApi, { name, certificateArn, hostedZoneId }: Domain) {
    super(scope, id, {
      domainName: name,
      certificate: Certificate.fromCertificateArn(scope, `${id}Certificate`, certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
      // CDK's types are not written for `exactOptionalPropertyTypes`, so this needs a cast.
      mapping: api as IRestApi,
    });
    addOutput(scope, outputNames.apiAddress, `https://${name}`);
    addOutput(scope, outputNames.apiRecordTarget, this.domainNameAliasDomainName);
    if (hostedZoneId === undefined) return;
    const record = {
      zone: HostedZone.fromHostedZoneId(scope, `${id}Zone`, hostedZoneId),
      target: RecordTarget.fromAlias(new ApiGatewayDomain(this)),
      // The final dot makes the name fully qualified, for any name of the zone.
      recordName: `${name}.`,
    };
    new ARecord(this, "Record", record);
    new AaaaRecord(this, "RecordV6", record);
  }
}
