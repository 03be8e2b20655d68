/** The page behind a proxy that cuts answers at half, in a real browser, for `npm run test:all`. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acceptingSinkPath } from "../../shared/sandbox/sinks.ts";
import { type CuttingProxy, openCuttingProxy } from "../support/cutting-proxy.ts";
import {
  type ConsolePage,
  cellsDrawn,
  hourInAddress,
  isTested,
  logIn,
  openConsole,
  openForm,
  patience,
  useConsole,
} from "./console-page.ts";

const brokenOff = "The answer broke off before its end.";
const notTheService = "Something other than the service answered, such as the login page of a network.";

describe.skipIf(!isTested)("answers that break off", { timeout: 2 * patience }, () => {
  const used = useConsole();
  let proxy: CuttingProxy;
  let map: ConsolePage;
  beforeAll(async () => {
    proxy = await openCuttingProxy(used.service.url);
    map = await openConsole(used.browser, `${proxy.url}/#from=${hourInAddress(2)}`);
    await logIn(map.page);
    await cellsDrawn(map.page);
  }, 2 * patience);
  afterAll(async () => await proxy?.close());

  test("the page shows the first hour when its request for the other hours fails; “Try again” adds them without moving map, card or focus", async () => {
    const opened = await openConsole(used.browser, `${used.service.url}/#from=${hourInAddress(2)}`);
    const { page } = opened;
    await page.route("**/retrieve", (route, request) => {
      const { startTime, endTime } = request.postDataJSON();
      return Date.parse(endTime) - Date.parse(startTime) > 3_600_000 ? route.abort() : route.continue();
    });
    await logIn(page);
    const notice = page.locator(".notice");
    await notice.getByText("The service cannot be reached.").waitFor();
    const onView = async () => [
      page.url(),
      await cellsDrawn(page),
      await page.textContent("#timeline .people"),
      await page.textContent("#cell .figure"),
      await page.evaluate("document.activeElement.textContent"),
      await page.evaluate("document.getElementById('map').map.getBounds().toString()"),
    ];
    const bars = page.locator(".bar-hour");

    expect(await bars.count()).toBe(1);
    expect(await page.evaluate("document.activeElement.className")).toBe("headline");
    await page.click("text=Densest cells");
    await page.locator("#panel button.link").first().click();
    const before = await onView();
    await page.unroute("**/retrieve");
    await notice.getByRole("button", { name: "Try again" }).evaluate((button) => button.click());
    await bars.nth(23).waitFor();
    expect(await onView()).toEqual(before);
    await page.context().close();
  });

  test("an answer of the map that is cut leaves the former one there, says so, and comes once it is tried again", async () => {
    const { page } = map;
    const before = await page.textContent("#timeline .people");
    await openForm(page);
    proxy.damage("cut", "/retrieve");

    await page.getByLabel("Example", { exact: true }).last().selectOption("Part-Dieu station");

    const notice = page.locator(".notice");
    await notice.getByText(brokenOff).waitFor();
    expect(await notice.textContent()).toContain("These numbers are of the request before.");
    expect(await notice.textContent()).not.toMatch(/in a moment|Asking/);
    expect(await page.textContent("#timeline .people")).toBe(before);
    await tryAgain(notice);
    await page.waitForSelector(".result:not([inert])");
    expect(await page.textContent("#timeline .people")).not.toBe(before);
    expectNoUncaught(map);
  });

  test("a file of which half arrives is not saved, and is once it is tried again", async () => {
    const { page } = map;
    const result = page.locator(".result");
    const saved: string[] = [];
    page.on("download", (download) => saved.push(download.suggestedFilename()));
    proxy.damage("half", "/retrieve");

    await result.getByRole("button", { name: "GeoJSON", exact: true }).click();

    await result.getByText(brokenOff).waitFor();
    expect(saved).toEqual([]);
    const downloading = page.waitForEvent("download");
    await tryAgain(result);
    expect((await downloading).suggestedFilename()).toMatch(/\.geojson$/);
    expect(await result.getByText(brokenOff).count()).toBe(0);
    expectNoUncaught(map);
  });

  test("operations of which a network's login page comes instead say so, and are listed once they are tried again", async () => {
    const { page } = map;
    const panel = page.locator("details", { hasText: "Your operations" });
    proxy.damage("portal", "/operations");

    await page.getByText("Your operations").click();

    await panel.getByText(notTheService).waitFor();
    await tryAgain(panel);
    await panel.locator("li").first().waitFor();
    expectNoUncaught(map);
  });

  test("a delivery whose acceptance is cut is started once, also when it is tried again", async () => {
    const { page } = map;
    const panel = page.locator("details", { hasText: "Your operations" });
    if ((await panel.getAttribute("open")) === null) await page.getByText("Your operations").click();
    const before = await operationsIn(page);
    const cutAndTryAgain = async (name: string, path: string) => {
      proxy.damage("cut", path);
      await panel.getByRole("button", { name }).first().click();
      await panel.getByText(brokenOff).waitFor();
      await tryAgain(panel);
      await panel.locator(".problem").waitFor({ state: "detached" });
    };

    await cutAndTryAgain("Deliver to this sink", "/retrieve");
    await panel.locator("li", { hasText: "DELIVERED" }).first().waitFor();
    const ordered = await operationsIn(page);
    await cutAndTryAgain("Deliver again", "/redeliver");
    await expect.poll(() => operationsIn(page)).toBe(ordered + 1);

    expect(ordered).toBe(before + 1);
    expectNoUncaught(map);
  });

  test("a request with a sink that is sent from the reference, cut, and sent again starts one operation", async () => {
    const opened = await openConsole(used.browser, `${proxy.url}/reference`);
    const { page } = opened;
    const operation = page.locator("#retrievePopulationDensity");
    await operation.waitFor();
    await page.click("#account button");
    await logIn(page);
    await page.getByRole("button", { name: "Log out" }).waitFor();
    const before = await operationsIn(page);
    const body = operation.getByLabel("Body");
    await operation.getByText("Change the request").click();
    const sink = `${used.service.url}${acceptingSinkPath}`;
    await body.fill(JSON.stringify({ ...JSON.parse(await body.inputValue()), sink }));
    proxy.damage("cut", "/retrieve");

    await operation.getByRole("button", { name: "Send" }).last().click();
    await operation.getByText(brokenOff).waitFor();
    proxy.damage();
    await operation.getByRole("button", { name: "Send" }).last().click();
    await operation.locator(".live .status.ok").waitFor();

    await expect.poll(() => operationsIn(page)).toBe(before + 1);
    expectNoUncaught(opened);
    await page.context().close();
  });

  test("the reference whose document is cut says so, is there once it is tried again, and says so of a response", async () => {
    proxy.damage("cut", "/openapi.json");
    const opened = await openConsole(used.browser, `${proxy.url}/reference`);
    const { page } = opened;

    await page.getByText(brokenOff).waitFor();
    await tryAgain(page.locator("#reference"));
    const form = page.locator("#form-retrieveQosProfiles");
    await form.waitFor();
    await page.click("#account button");
    await logIn(page);
    proxy.damage("portal", "/retrieve-qos-profiles");
    await form.getByRole("button", { name: "List profiles" }).click();
    await form.getByText(notTheService).waitFor();
    await tryAgain(form);
    await form.getByRole("table").waitFor();
    expectNoUncaught(opened);
    await page.context().close();
  });

  /** Lets answers pass, and tries again. */
  async function tryAgain(place: Locator): Promise<void> {
    proxy.damage();
    await place.getByRole("button", { name: "Try again" }).click();
  }
});

/** The number of operations that the login of the page has. */
async function operationsIn(page: Page): Promise<number> {
  return await page.evaluate(`(async () => {
    const { token } = JSON.parse(Object.values(sessionStorage)[0]);
    const headers = { authorization: "Bearer " + token };
    const response = await fetch("populationdensitydata/operations", { headers });
    return (await response.json()).operations.length;
  })()`);
}

/** Expects no error but those of the browser's that it names itself, of answers that did not arrive. */
function expectNoUncaught({ problems }: ConsolePage): void {
  expect(problems.filter((problem) => !problem.startsWith("Failed to load resource"))).toEqual([]);
}
