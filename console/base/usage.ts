/** How much of the allowance is left, as the last response said: nothing is asked for that. */
import { element } from "./dom.ts";
import { onAllowance } from "./http.ts";
import { whole } from "./numbers.ts";
import { onLoginChange } from "./session.ts";
import { clockLabel } from "./time.ts";

/** Shows in the footer the limit of which less is left, and when it is renewed. */
export function followUsage(): void {
  const place = element("usage");
  onAllowance(({ limit, remaining, resetsAt }) => {
    const left = `${whole(remaining)} of ${whole(limit)} requests left until ${clockLabel(resetsAt)}`;
    place.textContent = left;
  });
  onLoginChange((login) => {
    if (login === undefined) place.textContent = "";
  });
}
