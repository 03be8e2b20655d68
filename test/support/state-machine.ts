import * as z from "zod";

/** The service calls that a state machine makes here. */
export interface StateMachineServices {
  /** Invokes the function with a copy of the payload; its result is copied, too. */
  readonly invoke: (functionArn: string, payload: unknown) => Promise<unknown>;
  /** The objects whose keys begin with a prefix, as S3 lists them. */
  readonly listObjects: (
    bucket: string,
    prefix: string,
  ) => Promise<readonly { readonly Key: string; readonly Size: number }[]>;
  /** The content of an object. */
  readonly getObject: (bucket: string, key: string) => Promise<string>;
}

/** How an execution ended. */
export type Execution =
  | { readonly status: "SUCCEEDED"; readonly output: unknown }
  | { readonly status: "FAILED"; readonly error: string; readonly cause: string };

const template = z.record(z.string(), z.unknown());

const retrier = z.strictObject({
  ErrorEquals: z.array(z.string()),
  IntervalSeconds: z.number().optional(),
  BackoffRate: z.number().optional(),
  MaxAttempts: z.number(),
  MaxDelaySeconds: z.number().optional(),
  JitterStrategy: z.literal("FULL").optional(),
});

const next = { Next: z.string().optional(), End: z.literal(true).optional() };

const catcher = z.strictObject({
  ErrorEquals: z.tuple([z.literal("States.ALL")]),
  ResultPath: z.string(),
  Next: z.string(),
});

const taskState = z.strictObject({
  Type: z.literal("Task"),
  Resource: z.literal("arn:aws:states:::lambda:invoke"),
  Parameters: template,
  ResultSelector: template.optional(),
  ResultPath: z.string().optional(),
  OutputPath: z.string().optional(),
  TimeoutSeconds: z.number(),
  Retry: z.array(retrier),
  Catch: z.array(catcher).default([]),
  ...next,
});

const mapState = z.strictObject({
  Type: z.literal("Map"),
  Label: z.string().max(40),
  ItemReader: z.discriminatedUnion("Resource", [
    z.strictObject({ Resource: z.literal("arn:aws:states:::s3:listObjectsV2"), Parameters: template }),
    z.strictObject({
      Resource: z.literal("arn:aws:states:::s3:getObject"),
      ReaderConfig: z.strictObject({ InputType: z.literal("JSON") }),
      Parameters: template,
    }),
  ]),
  ItemSelector: template,
  ItemProcessor: z.strictObject({
    ProcessorConfig: z.strictObject({ Mode: z.literal("DISTRIBUTED"), ExecutionType: z.literal("STANDARD") }),
    StartAt: z.string(),
    States: z.record(z.string(), taskState),
  }),
  MaxConcurrency: z.number().positive(),
  ResultPath: z.null(),
  Catch: z.array(catcher).default([]),
  ...next,
});

const choiceState = z.strictObject({
  Type: z.literal("Choice"),
  Choices: z.array(z.strictObject({ Variable: z.string(), IsPresent: z.literal(true), Next: z.string() })),
  Default: z.string(),
});

const failState = z.strictObject({ Type: z.literal("Fail"), Error: z.string(), CausePath: z.string() });

const state = z.discriminatedUnion("Type", [taskState, mapState, choiceState, failState]);

const machine = z.strictObject({
  TimeoutSeconds: z.number(),
  Comment: z.string(),
  StartAt: z.string(),
  States: z.record(z.string(), state),
});

/** An error as a state machine knows it. */
class StateError extends Error {
  constructor(name: string, cause: string) {
    super(cause);
    this.name = name;
  }
}

/** Step Functions limits what passes between states. */
const maxStateBytes = 262_144;

/** Paths of names alone, of the input (`$`) or of the context (`$$`). */
function at(path: string, input: unknown, context: unknown): unknown {
  const [root, ...names] = path.split(".");
  if (root !== "$" && root !== "$$") throw new Error(`${path} is no path that is supported`);
  let found = root === "$" ? input : context;
  for (const name of names) {
    if (typeof found !== "object" || found === null || !(name in found))
      throw new StateError("States.Runtime", `no ${path}`);
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** A value of a template: a path, or `States.Format` with one argument. */
function evaluated(expression: string, input: unknown, context: unknown): unknown {
  const [, format, path] = /^States\.Format\('([^']*)', (\S+)\)$/.exec(expression) ?? [];
  if (format === undefined || path === undefined) return at(expression, input, context);
  return format.replace("{}", String(at(path, input, context)));
}

function filled(
  from: z.infer<typeof template>,
  input: unknown,
  context: unknown = {},
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(from).map(([name, value]) => {
      if (name.endsWith(".$")) return [name.slice(0, -2), evaluated(String(value), input, context)];
      const isObject = typeof value === "object" && value !== null;
      return [name, isObject ? filled(template.parse(value), input, context) : value];
    }),
  );
}

function copied(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > maxStateBytes)
    throw new StateError("States.DataLimitExceeded", "too much data");
  return JSON.parse(text);
}

/** The input with a result at a path of one name. */
function placed(input: unknown, path: string | undefined, result: unknown): unknown {
  if (path === undefined) return result;
  const name = /^\$\.(\w+)$/.exec(path)?.[1];
  if (name === undefined) throw new Error(`${path} is no path that is supported`);
  return { ...template.parse(input), [name]: result };
}

/**
 * Runs a definition in the Amazon States Language, of the states and fields that this project uses, without waiting
 * between attempts. Items of a map run in the order in which `order` puts them.
 * @throws {Error} for what is not supported.
 */
export async function execute(
  definition: unknown,
  input: unknown,
  services: StateMachineServices,
  order: <Item>(items: readonly Item[]) => readonly Item[] = (items) => items,
): Promise<Execution> {
  const { StartAt, States } = machine.parse(definition);
  let data = copied(input);
  for (let name: string | undefined = StartAt; name !== undefined; ) {
    const current: z.infer<typeof state> | undefined = States[name];
    if (current === undefined) throw new Error(`there is no state ${name}`);
    if (current.Type === "Fail") {
      return { status: "FAILED", error: current.Error, cause: String(at(current.CausePath, data, {})) };
    }
    if (current.Type === "Choice") {
      name = current.Choices.find(({ Variable }) => isPresent(Variable, data))?.Next ?? current.Default;
      continue;
    }
    try {
      data = copied(
        current.Type === "Map"
          ? await runMap(current, data, services, order)
          : await runTask(current, data, services),
      );
      name = current.Next;
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      const [caught] = current.Catch;
      if (caught === undefined) return { status: "FAILED", error: error.name, cause: error.message };
      data = placed(data, caught.ResultPath, { Error: error.name, Cause: error.message });
      name = caught.Next;
    }
  }
  return { status: "SUCCEEDED", output: data };
}

function isPresent(path: string, data: unknown): boolean {
  try {
    at(path, data, {});
    return true;
  } catch (error) {
    if (error instanceof StateError) return false;
    throw error;
  }
}

async function runTask(
  { Parameters, ResultSelector, ResultPath, OutputPath = "$", Retry }: z.infer<typeof taskState>,
  input: unknown,
  { invoke }: StateMachineServices,
): Promise<unknown> {
  const { FunctionName, Payload } = filled(Parameters, input);
  for (let attempt = 1; ; attempt++) {
    try {
      const result = { StatusCode: 200, Payload: await invoke(String(FunctionName), copied(Payload)) };
      const selected = ResultSelector === undefined ? result : filled(ResultSelector, result);
      return at(OutputPath, placed(input, ResultPath, copied(selected)), {});
    } catch (error) {
      if (!(error instanceof Error) || error instanceof StateError) throw error;
      const { name, message } = error;
      const retry = Retry.find(({ ErrorEquals }) =>
        ErrorEquals.some((one) => one === name || one === "States.ALL"),
      );
      if (attempt > (retry?.MaxAttempts ?? 0))
        throw new StateError(name, JSON.stringify({ errorMessage: message }));
    }
  }
}

async function runMap(
  { ItemReader, ItemSelector, ItemProcessor }: z.infer<typeof mapState>,
  input: unknown,
  services: StateMachineServices,
  order: <Item>(items: readonly Item[]) => readonly Item[],
): Promise<unknown> {
  const { Bucket, Prefix, Key } = filled(ItemReader.Parameters, input);
  const items: readonly unknown[] =
    ItemReader.Resource === "arn:aws:states:::s3:listObjectsV2"
      ? await services.listObjects(String(Bucket), String(Prefix))
      : z.array(z.unknown()).parse(JSON.parse(await services.getObject(String(Bucket), String(Key))));
  const results: unknown[] = [];
  for (const [Index, Value] of order([...items.entries()])) {
    const selected = copied(filled(ItemSelector, input, { Map: { Item: { Index, Value } } }));
    const task = ItemProcessor.States[ItemProcessor.StartAt];
    if (task?.End !== true) throw new Error("an item has one task");
    try {
      results.push(await runTask(task, selected, services));
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      // As Step Functions names it, for any failure of the item.
      throw new StateError(
        "States.ExceedToleratedFailureThreshold",
        "The specified tolerated failure threshold was exceeded",
      );
    }
  }
  copied(results);
  return input;
}
