/** The console in a real browser, for tests. */
import { writeFileSync } from "node:fs";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { noDataState, suppressedState } from "../../console/map/cell-state.ts";
import { findChromium, startChromium } from "../../tools/chromium.ts";
import { hourFromNow } from "../support/areas.ts";
import { type OwnService, startOwnService } from "../support/own-service.ts";
import { isInCi, isWhole, sampleOf } from "../support/sample.ts";

/** Chromium on this machine, in which the console is tested. */
export const chromium = findChromium();
const takesScreenshots = process.env.TEST_MODE === "screenshots";
/** Whether this run tests the page in a browser. */
export const isTested = chromium !== undefined && isInCi;
/** Whether this run opens the page in a browser, for tests or for the pictures of documents. */
export const isWanted = isInCi || takesScreenshots;
if (isWanted && chromium === undefined) {
  console.warn(
    "SKIPPED: the console was not tested in a browser. Install Chromium, or name it in CHROMIUM_PATH.",
  );
}

/**
 * Drawing pixels takes most of the time of these tests. At half the scale there are a quarter as many, which saves a
 * third of it.
 */
const display: BrowserContextOptions = takesScreenshots
  ? { viewport: { width: 1360, height: 850 } }
  : { viewport: { width: 1200, height: 640 }, deviceScaleFactor: isWhole ? 1 : 0.5 };

/** Writes a picture for the documents, in the run that does so. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (takesScreenshots) await page.screenshot({ path: `docs/images/${name}.png` });
}

/** Makes the still pictures of the map that are behind the login of the demo, in the run that writes pictures. */
export async function writeStills(page: Page): Promise<void> {
  if (!takesScreenshots) return;
  // The page's policy forbids a style sheet of the test's.
  const setUpon = async (visibility: string) =>
    await page.evaluate(
      `for (const one of document.querySelectorAll("#legend, #map-note, .tilt, .maplibregl-control-container"))
        one.style.visibility = "${visibility}"`,
    );
  await setUpon("hidden");
  for (const [colorScheme, name] of [
    ["dark", "demo-dark"],
    ["light", "demo"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(2_000);
    const png = (await page.locator("#map").screenshot()).toString("base64");
    const webp = await page.evaluate<string>(`(async () => {
      const image = new Image();
      image.src = "data:image/png;base64,${png}";
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [800, Math.round((800 * image.height) / image.width)];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL("image/webp", 0.5).split(",")[1];
    })()`);
    writeFileSync(`console/base/${name}.webp`, Buffer.from(webp, "base64"));
  }
  await setUpon("");
}

/** A busy machine without graphics hardware draws slowly. */
export const patience = 120_000;

/** Starts a browser, and a service with the demo data: one of the file's own, as others store densities elsewhere. */
export function useConsole(): { readonly browser: Browser; readonly service: OwnService } {
  const used = {} as { browser: Browser; service: OwnService };
  beforeAll(async () => {
    const environment = { SINK_ALLOWED_NETWORKS: "127.0.0.1/32:1024-65535" };
    used.service = await startOwnService(environment, { hasDemoData: true, isIssuer: true });
    used.browser = await startChromium(chromium ?? "");
  }, patience);
  afterAll(async () => {
    await used.browser?.close();
    await used.service?.close();
  });
  return used;
}

/** A page, with what it must not do. */
export interface ConsolePage {
  readonly page: Page;
  /** Errors and warnings of the browser. */
  readonly problems: readonly string[];
  readonly requests: readonly { readonly url: string; readonly body: string | null }[];
}

/** Opens a page of a console. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ ...display, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const problems: string[] = [];
  const requests: { url: string; body: string | null }[] = [];
  page.on("console", (message) => {
    const isProblem = ["error", "warning"].includes(message.type());
    if (isProblem && !/GL Driver Message|swiftshader/i.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => requests.push({ url: request.url(), body: request.postData() }));
  await page.goto(url);
  return { page, problems, requests };
}

/**
 * The whole hour that begins so many hours after the current one, as addresses have it. A page that serves many tests
 * is opened with the second: the period that it offers by itself may begin while they run, and is then refused.
 */
export const hourInAddress = (hours: number): string => `${hourFromNow(hours).toISOString().slice(0, 16)}Z`;

/**
 * Expects no error of the browser, and no request to another origin.
 * @param caused what the browser says of the refusals that a test causes
 */
export function expectNoProblems({ page, problems, requests }: ConsolePage, caused?: RegExp): void {
  const { origin } = new URL(page.url());
  const elsewhere = requests.filter(
    ({ url }) => !/^(?:blob|data):/.test(url) && !url.startsWith(`${origin}/`),
  );
  expect(problems.filter((problem) => caused?.test(problem) !== true)).toEqual([]);
  expect(elsewhere).toEqual([]);
}

/** Logs in with the demo login. */
export async function logIn(page: Page): Promise<void> {
  await page.fill("#login-email", "app@example.com");
  await page.fill("#login-password", "correct horse battery staple");
  await page.click("#login button");
  await page.waitForSelector("#account button");
}

/** What the API answers to a request of the form, as GeoJSON. */
export interface AnswerBody {
  readonly intervals: readonly object[];
  readonly features: readonly {
    readonly properties: {
      readonly geohash: string;
      readonly dataType: readonly string[];
      readonly pplDensity: readonly (number | null)[];
    };
  }[];
}

/** Opens the form, which is folded into a line once it has an answer. */
export async function openForm(page: Page): Promise<void> {
  await page.waitForSelector(".request-fold");
  if ((await page.locator(".request-fold[open]").count()) === 0) await page.click(".request-fold summary");
}

/** Gives the search a name or an area: several lines are pasted, as typing has but one. */
export async function search(page: Page, text: string): Promise<void> {
  if (text.includes("\n")) await page.evaluate(`(${paste})(${JSON.stringify(text)})`);
  else {
    await page.fill("#where", text);
    await page.press("#where", "Enter");
  }
}

/** Runs in the page. */
const paste = `(text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, cancelable: true });
  document.getElementById("where").dispatchEvent(event);
}`;

/** Submits the form, and waits until the answer is drawn: where nothing was on view, the second of two. */
export async function showDensities(page: Page): Promise<AnswerBody> {
  // A request that the page made by itself, and that the submission ends, has a response and never finishes.
  let answered: Request | undefined;
  const keep = (request: Request) => {
    if (request.url().endsWith("/populationdensitydata/retrieve")) answered = request;
  };
  page.on("requestfinished", keep);
  await submit(page);
  await vi.waitFor(() => expect(answered).toBeDefined(), { timeout: patience });
  // The answer to the submission itself folds the form: not later, while a test fills it in again.
  await page.waitForSelector(".request-fold:not([open])");
  await cellsDrawn(page);
  page.off("requestfinished", keep);
  return (await (await answered?.response())?.json()) as AnswerBody;
}

/** An answer that the page asks for by itself may fold the form before it is submitted: it is opened again. */
async function submit(page: Page): Promise<void> {
  const openAndSubmit = async () => {
    await openForm(page);
    await page.click("form.request button.primary", { timeout: 20_000 });
  };
  await vi.waitFor(openAndSubmit, { timeout: patience });
}

/** Cells by what is known of them. */
interface CellCounts {
  readonly published: number;
  readonly suppressed: number;
  readonly noData: number;
}

/** Waits until all hours that were asked for are there, and as many cells of each kind drawn as the panel names. */
export async function cellsDrawn(page: Page): Promise<CellCounts> {
  await page.waitForSelector("#published-cells");
  const read = async () => await page.evaluate<{ drawn: unknown; named: CellCounts }>(readCounts);
  const drawnAsNamed = async () => {
    const { drawn, named } = await read();
    expect(drawn).toEqual(named);
    return named;
  };
  return await vi.waitFor(drawnAsNamed, { timeout: patience, interval: 200 });
}

/** Runs in the page: what the map has drawn once it has drawn everything, and what the panel names. */
const readCounts = `(() => {
  const { map } = document.getElementById("map");
  const isAsking = document.querySelector(".notice .progress") !== null;
  const isDrawn = !isAsking && map.loaded() && !map.isMoving();
  const states = new Map(
    map.queryRenderedFeatures({ layers: ["cells"] }).map(({ id, state }) => [id, state.state]),
  );
  const count = (isCounted) => [...states.values()].filter(isCounted).length;
  const named = (id) => Number(document.getElementById(id).textContent.replaceAll(",", ""));
  return {
    drawn: isDrawn && {
      published: count((state) => state >= 0),
      suppressed: count((state) => state === ${suppressedState}),
      noData: count((state) => state === ${noDataState}),
    },
    named: {
      published: named("published-cells"),
      suppressed: named("suppressed-cells"),
      noData: named("no-data-cells"),
    },
  };
})()`;

/** The serious and critical findings of axe-core. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  // With what it finds to be right, axe-core would take twice as long.
  return await page.evaluate(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target.join(" "))))`);
}

const windows = [
  { width: 1440, height: 900 },
  { width: 1100, height: 760 },
  { width: 390, height: 844 },
];

/** In this order, a sample of two has the widest window in light and the narrowest in dark. */
const appearances = [
  ...windows.map((viewport) => ({ viewport, colorScheme: "light" as const })),
  ...windows.toReversed().map((viewport) => ({ viewport, colorScheme: "dark" as const })),
];

/** Expects no serious finding of axe-core and no scrolling sideways, light and dark, in wide and narrow windows. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const { viewport, colorScheme } of sampleOf(appearances, 2)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const isTooWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    const findings = await seriousFindings(page);
    const shown = { name, viewport, colorScheme };
    expect({ ...shown, isTooWide, findings }).toEqual({ ...shown, isTooWide: false, findings: [] });
  }
}
