import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import validate from "asl-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { densityImportDefinition } from "../../infra/density-import-definition.ts";
import { densityImportStackName } from "../../infra/stack-names.ts";
import { parseOne, resourcesOf, sharedFolder, textOf } from "./template.ts";

const made = parseOne(
  readFileSync(join(sharedFolder("densityImport"), `${densityImportStackName}.template.json`), "utf8"),
);

describe("the definition of the import", () => {
  const names = {
    partition: "aws",
    functionArn: "arn:aws:lambda:eu-west-1:123456789012:function:import:1",
    bucketName: "counts",
  };
  const definition = densityImportDefinition(names);

  test("the state machine of the import is valid Amazon States Language", () => {
    const { isValid, errorsText } = validate(definition);
    expect(errorsText("\n")).toBe("");
    expect(isValid).toBe(true);
  });

  test("the state machine is deployed with the states of densityImportDefinition", () => {
    const [machine] = resourcesOf(
      "AWS::StepFunctions::StateMachine",
      z.object({ DefinitionString: z.unknown() }),
      made,
    );
    const deployed: unknown = JSON.parse(textOf(machine?.properties.DefinitionString));
    const { States } = z.object({ States: z.record(z.string(), z.unknown()) }).parse(deployed);
    expect(Object.keys(States)).toEqual(Object.keys(definition.States));
  });

  test("the import writes to the table only after every check and releases days after a fault", () => {
    const { States } = definition;
    expect(States.CheckPrefixes.Next).toBe("BeginImport");
    expect(States.IsPlanned.Choices.map(({ Next }) => Next)).toEqual(["Refused"]);
    for (const state of [States.BeginImport, States.StorePrefixes, States.FinishImport]) {
      expect(state.Catch.map(({ Next }) => Next)).toEqual(["FailImport"]);
    }
  });
});

describe("the stack of the import", () => {
  test("the stack of the import is absent unless densityImport is set", () => {
    expect(existsSync(join(sharedFolder("localDev"), `${densityImportStackName}.template.json`))).toBe(false);
  });

  // `putPieces` leaves parts that S3 fails to put together.
  test("the bucket of the import deletes parts of an unfinished upload after a day, whatever its key", () => {
    const rule = z.looseObject({ Prefix: z.string().optional() });
    const rules = z.object({ LifecycleConfiguration: z.object({ Rules: z.array(rule) }) });
    const [bucket] = resourcesOf("AWS::S3::Bucket", rules, made);
    const ofAllKeys = bucket?.properties.LifecycleConfiguration.Rules.filter(
      ({ Prefix }) => Prefix === undefined,
    );
    expect(ofAllKeys).toMatchObject([
      { Status: "Enabled", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
    ]);
  });

  // AWS limits the account's policy that permits other logs to 5,120 characters.
  test("the state machine logs below /aws/vendedlogs/, to a name that no deleted stack has left", () => {
    const named = resourcesOf("AWS::Logs::LogGroup", z.object({ LogGroupName: z.unknown().optional() }), made)
      .map(({ properties }) => textOf(properties.LogGroupName ?? ""))
      .filter((name) => name !== "");
    expect(named).toEqual([
      expect.stringMatching(
        /^\/aws\/vendedlogs\/states\/NetworkCapabilities-dev-density-import-.*AWS::StackId/,
      ),
    ]);
  });
});
