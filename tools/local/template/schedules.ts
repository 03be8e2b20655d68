/**
 * The schedules of a template.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-events-rule.html
 */
import * as z from "zod";
import { calledFunction, type LocalFunction } from "./functions.ts";
import type { Resources } from "./resources.ts";

const ruleSchema = z.object({
  ScheduleExpression: z.string(),
  State: z.literal("ENABLED").optional(),
  Targets: z.array(
    z.object({ Arn: z.string(), Input: z.undefined("an input is not supported locally").optional() }),
  ),
});

/** A function that is invoked periodically. */
export interface LocalSchedule {
  readonly logicalId: string;
  readonly ruleArn: string;
  readonly functionLogicalId: string;
  readonly seconds: number;
}

/**
 * One schedule for each target of a rule.
 * @throws {Error} naming a rule of a kind that is not supported locally.
 */
export function readSchedules(
  resources: Resources,
  functions: readonly LocalFunction[],
): readonly LocalSchedule[] {
  return resources.ofType("AWS::Events::Rule").flatMap((logicalId) => {
    const { ScheduleExpression, Targets } = resources.properties(logicalId, ruleSchema);
    const seconds = secondsOf(ScheduleExpression);
    if (seconds === undefined) {
      throw new Error(
        `${logicalId} runs at ${ScheduleExpression}; only rate(…) of minutes is supported locally`,
      );
    }
    return Targets.map(({ Arn }) => ({
      logicalId,
      ruleArn: resources.names(logicalId).attributes.Arn ?? "",
      functionLogicalId: calledFunction(functions, logicalId, Arn).logicalId,
      seconds,
    }));
  });
}

/** As in `rate(1 minute)` and `rate(5 minutes)`: the unit is plural exactly if the number is. */
function secondsOf(expression: string): number | undefined {
  const [, minutes, plural] = /^rate\(([1-9]\d*) minute(s?)\)$/.exec(expression) ?? [];
  if (minutes === undefined || (minutes !== "1") !== (plural === "s")) return undefined;
  return Number(minutes) * 60;
}
