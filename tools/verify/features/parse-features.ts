import { basename } from "node:path";
import { AstBuilder, compile, GherkinClassicTokenMatcher, Parser } from "@cucumber/gherkin";
import { IdGenerator, PickleStepType } from "@cucumber/messages";
import { filesIn } from "./folder-files.ts";

/** A sentence of a scenario, with the values of its example in place. */
interface FeatureStep {
  readonly text: string;
  /** Whether it says what is expected of the answer. */
  readonly isOutcome: boolean;
}

/** A scenario of a feature file, or one example of an outline, with the steps of its background first. */
export interface FeatureScenario {
  /** `<file>/<tag>`, and which example it is; the scenario's title if it has no tag. */
  readonly name: string;
  readonly title: string;
  readonly steps: readonly FeatureStep[];
}

/**
 * The scenarios of all feature files in a folder.
 * @throws {Error} naming the file that is not Gherkin, or the folder that cannot be read or has no feature file.
 */
export async function parseFeatures(folder: string): Promise<readonly FeatureScenario[]> {
  const files = await filesIn(folder, /\.feature$/);
  if (files.length === 0) throw new Error(`${folder} has no .feature file`);
  return files.flatMap(({ name, text }) => parseFeature(basename(name, ".feature"), text));
}

/** The scenarios of one feature file. @param file its name, which scenarios begin theirs with. */
function parseFeature(file: string, text: string): readonly FeatureScenario[] {
  const newId = IdGenerator.incrementing();
  const document = new Parser(new AstBuilder(newId), new GherkinClassicTokenMatcher());
  const pickles = compile(parseOf(document, file, text), file, newId);
  const named = pickles.map(({ name: title, tags: [tag], steps }) => ({
    name: `${file}/${tag?.name.slice(1) ?? title}`,
    title,
    steps: steps.map(({ text, type }) => ({
      text: text.trim().replaceAll(/\s+/g, " "),
      isOutcome: type === PickleStepType.OUTCOME,
    })),
  }));
  return named.map((scenario, index) => {
    const isSame = ({ name }: { readonly name: string }) => name === scenario.name;
    if (named.filter(isSame).length === 1) return scenario;
    return {
      ...scenario,
      name: `${scenario.name} example ${named.slice(0, index + 1).filter(isSame).length}`,
    };
  });
}

function parseOf(parser: Parser<ReturnType<AstBuilder["getResult"]>>, file: string, text: string) {
  try {
    return parser.parse(text);
  } catch (error) {
    throw new Error(`${file}.feature is not Gherkin: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
