import { html } from "./dom.ts";

/** Creates radio buttons, shown side by side. */
export function segments<Value extends string>(
  name: string,
  values: readonly Value[],
  initial: Value,
  onChange: (value: Value) => void,
): HTMLElement {
  const options = values.flatMap((value) => {
    const id = `${name}-${value}`;
    const input = html("input", {
      type: "radio",
      name,
      id,
      value,
      checked: value === initial,
      change: () => onChange(value),
    });
    return [input, html("label", { for: id }, value)];
  });
  return html("div", { class: "segments" }, ...options);
}
