import { text } from "node:stream/consumers";
import { AstBuilder, compile, GherkinClassicTokenMatcher, Parser } from "@cucumber/gherkin";
import { CucumberHtmlStream } from "@cucumber/html-formatter";
import { type Envelope, IdGenerator, SourceMediaType, TestStepResultStatus } from "@cucumber/messages";
import type { Findings } from "./findings.ts";

/** What became of a scenario, as Cucumber's messages say it. */
interface Result {
  readonly scenario: string;
  readonly milliseconds: number;
  readonly status: TestStepResultStatus;
  readonly message: string | undefined;
}

/**
 * One page of HTML that needs no other file: the scenarios by area or file, each with what became of it.
 * @param ended when the run ended, in epoch milliseconds.
 */
export async function htmlOf(findings: Findings, ended = Date.now()): Promise<string> {
  const page = new CucumberHtmlStream();
  for (const envelope of envelopesOf(findings, ended)) page.write(envelope);
  page.end();
  return await text(page);
}

function* envelopesOf(findings: Findings, endOfRun: number): Generator<Envelope> {
  const newId = IdGenerator.incrementing();
  const at = (milliseconds: number) => ({
    seconds: Math.floor(milliseconds / 1_000),
    nanos: Math.round(milliseconds % 1_000) * 1_000_000,
  });
  const testRunStartedId = newId();
  let ended = endOfRun - findings.outcomes.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  yield { testRunStarted: { id: testRunStartedId, timestamp: at(ended) } };
  for (const [feature, results] of byFeature(findings)) {
    const data = textOf(feature, findings.url, results);
    const uri = `${feature}.feature`;
    yield { source: { data, uri, mediaType: SourceMediaType.TEXT_X_CUCUMBER_GHERKIN_PLAIN } };
    const document = new Parser(new AstBuilder(newId), new GherkinClassicTokenMatcher()).parse(data);
    const gherkinDocument = { ...document, uri };
    yield { gherkinDocument };
    for (const [index, pickle] of compile(gherkinDocument, uri, newId).entries()) {
      const { milliseconds, status, message } = results[index] as Result;
      const [testCaseId, testCaseStartedId, testStepId] = [newId(), newId(), newId()];
      const [step] = pickle.steps;
      yield { pickle };
      yield {
        testCase: {
          id: testCaseId,
          pickleId: pickle.id,
          testSteps: [{ id: testStepId, ...(step === undefined ? {} : { pickleStepId: step.id }) }],
          testRunStartedId,
        },
      };
      yield { testCaseStarted: { id: testCaseStartedId, testCaseId, attempt: 0, timestamp: at(ended) } };
      ended += milliseconds;
      const testStepResult = {
        duration: at(milliseconds),
        status,
        ...(message === undefined ? {} : { message }),
      };
      yield { testStepFinished: { testCaseStartedId, testStepId, testStepResult, timestamp: at(ended) } };
      yield { testCaseFinished: { testCaseStartedId, willBeRetried: false, timestamp: at(ended) } };
    }
  }
  const success = findings.outcomes.every(({ failure }) => failure === undefined);
  yield { testRunFinished: { success, timestamp: at(ended), testRunStartedId } };
}

/** By what is before the first slash of a scenario's name: the area, or the feature file. */
function byFeature({ outcomes, skipped }: Findings): Map<string, Result[]> {
  const results = [
    ...outcomes.map(({ name, milliseconds, failure, notes = [] }) => ({
      name,
      milliseconds,
      status: failure === undefined ? TestStepResultStatus.PASSED : TestStepResultStatus.FAILED,
      message: [failure, ...notes].filter((line) => line !== undefined).join("\n") || undefined,
    })),
    ...skipped.map(({ name, reason }) => {
      return { name, milliseconds: 0, status: TestStepResultStatus.SKIPPED, message: reason };
    }),
  ];
  const features = new Map<string, Result[]>();
  for (const { name, ...result } of results) {
    const [feature = "", ...scenario] = name.split("/");
    features.set(feature, [...(features.get(feature) ?? []), { scenario: scenario.join("/"), ...result }]);
  }
  return features;
}

/** A feature file with one step for each scenario. */
function textOf(feature: string, url: string, results: readonly Result[]): string {
  const scenarios = results.map(({ scenario, status, message }) => {
    const step =
      status === TestStepResultStatus.SKIPPED
        ? `* not run: ${message}`
        : "* the answer is as the contract says";
    return `  Scenario: ${scenario}\n    ${step.replaceAll(/\s+/g, " ")}\n`;
  });
  return [`Feature: ${feature} of ${url}\n`, ...scenarios].join("\n");
}
