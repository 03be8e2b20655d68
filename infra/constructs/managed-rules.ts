const anyBody =
  "A body is data: a password may look like an attack, and a sink that is not " +
  "public is refused by the function, in the words of the specification.";

/**
 * The groups of AWS's rules that are used, in order, and those of their rules that only count, each with its reason:
 * they would block requests that a function answers, with success or with a specified error. All other rules block.
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 *
 * `AWSManagedRulesAnonymousIpList` is not used: callers are servers, and most are with a hosting provider.
 */
export const managedRules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  AWSManagedRulesAmazonIpReputationList: {},
  AWSManagedRulesKnownBadInputsRuleSet: {
    JavaDeserializationRCE_BODY: anyBody,
    Log4JRCE_BODY: anyBody,
    ReactJSRCE_BODY: anyBody,
  },
  AWSManagedRulesCommonRuleSet: {
    CrossSiteScripting_BODY: anyBody,
    EC2MetaDataSSRF_BODY: anyBody,
    GenericLFI_BODY: anyBody,
    GenericRFI_BODY: anyBody,
    NoUserAgent_HEADER: "Callers are programs, and the specification asks for no such header.",
    RestrictedExtensions_URIPATH:
      "The name of a QoS profile is part of a path and may end in `.log` or `.ini`.",
    SizeRestrictions_BODY: "It refuses bodies above 8 KB; the service reads up to 64 KB.",
  },
};
