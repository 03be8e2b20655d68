/** What people do on the map beyond asking and looking, in a real browser, for `npm run test:all`. */
import { beforeAll, describe, expect, test } from "vitest";
import {
  type ConsolePage,
  cellsDrawn,
  chromium,
  expectNoProblems,
  isWanted,
  logIn,
  openConsole,
  openForm,
  patience,
  useConsole,
} from "./console-page.ts";

const isTested = chromium !== undefined && isWanted && process.env.TEST_MODE !== "screenshots";

describe.skipIf(!isTested)("stories of the map", { timeout: 2 * patience }, () => {
  const used = useConsole();
  let map: ConsolePage;
  beforeAll(async () => {
    map = await openConsole(used.browser, used.service.url);
    await logIn(map.page);
    await cellsDrawn(map.page);
  }, 2 * patience);

  test("times are in the zone of the data, and in UTC once that is chosen", async () => {
    const { page } = map;
    const hour = page.locator("#timeline .headline");
    const before = await hour.textContent();
    const from = await page.inputValue("#from");

    await page.getByLabel("Time zone").selectOption("utc");

    expect(before).toMatch(/CES?T/);
    expect(await hour.textContent()).toContain("UTC");
    // The field of the form has the same moment in the other zone, so that the request is still the one on view.
    expect(await page.inputValue("#from")).not.toBe(from);
    expect(await page.locator(".result[inert]").count()).toBe(0);
    await page.getByLabel("Time zone").selectOption("data");
    expectNoProblems(map);
  });

  test("compared with the hour on view, another hour shows how many people more or fewer there are", async () => {
    const { page } = map;

    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("slider", { name: "Hour" }).press("End");

    expect(await page.textContent("#timeline .people")).toMatch(/^[+−][\d,]+$/);
    expect(await page.textContent("#legend h2")).toBe("More or fewer people per km²");
    await page.getByRole("button", { name: "Compare" }).click();
    expectNoProblems(map);
  });

  test("another example dims the numbers of the former one, until its own are there without a click", async () => {
    const { page } = map;
    const before = await page.textContent("#timeline .people");
    await openForm(page);

    await page.getByLabel("Example", { exact: true }).last().selectOption("Part-Dieu station");

    expect(await page.locator(".result[inert]").count()).toBe(1);
    expect(await page.textContent(".notice")).toContain("of the former request");
    await page.waitForSelector(".result:not([inert])");
    expect(await page.textContent("#timeline .people")).not.toBe(before);
    expectNoProblems(map);
  });

  test("a pasted area with latitude and longitude exchanged leaves the former one, and is asked for once they are swapped", async () => {
    const { page } = map;
    await openForm(page);
    await page.click("label[for=way-Import]");
    await page.fill("#pasted", "POLYGON ((45.74 4.82, 45.74 4.83, 45.75 4.825, 45.74 4.82))");

    await page.getByRole("button", { name: "Use this" }).click();
    const refusal = await page.textContent(".request .problem");
    await page.getByRole("button", { name: "Swap latitude and longitude" }).click();

    expect(refusal).toContain("Nothing of this is covered. The former area stays.");
    await page.waitForURL(/#area=4\.82,45\.74,4\.83,45\.74,/);
    expectNoProblems(map);
  });

  test("a request that is refused for too many is asked again after its Retry-After", async () => {
    const { page } = map;
    await page.route(
      "**/retrieve",
      (route) => route.fulfill({ status: 429, headers: { "retry-after": "1" } }),
      {
        times: 1,
      },
    );
    await openForm(page);

    await page.click("form.request button.primary");

    await page.getByText("Too many requests: asking again in 1 second.").waitFor();
    await page.waitForSelector(".request-fold:not([open])");
  });
});
