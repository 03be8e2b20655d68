/** The known line forms of each diagram type, by the diagram's first word. */
const forms: Readonly<Record<string, readonly RegExp[]>> = (() => {
  const id = String.raw`\w+`;
  // A node with a text in matching brackets: (( )), ([ ]), [( )], [[ ]], { }, ( ) and [ ].
  const shapes = [
    "\\(\\(%\\)\\)",
    "\\(\\[%\\]\\)",
    "\\[\\(%\\)\\]",
    "\\[\\[%\\]\\]",
    "\\[%\\]",
    "\\(%\\)",
    "\\{%\\}",
  ];
  const text = String.raw`(?:"[^"]+"|[^\][(){}"|]+)`;
  const bracketed = shapes.map((shape) => shape.replace("%", text)).join("|");
  const node = `${id}(?:${bracketed})?`;
  const nodes = `${node}(?: & ${node})*`;
  const arrow = String.raw`(?:-->|-\.->|==>|---|<-->)(?:\|[^|]+\|)?`;
  const participant = `${id}(?: as [^;]+)?`;
  return {
    flowchart: [
      /^flowchart (?:LR|RL|TB|TD|BT)$/,
      new RegExp(`^${nodes}(?: ${arrow} ${nodes})*$`),
      new RegExp(`^subgraph ${node}$`),
      /^end$/,
    ],
    sequenceDiagram: [
      /^sequenceDiagram$/,
      new RegExp(`^(?:actor|participant) ${participant}$`),
      new RegExp(`^${id}(?:-->>|->>|--x|-x|-\\)|--\\))[+-]?${id}: [^;]+$`),
      new RegExp(`^Note (?:over|left of|right of) ${id}(?:,${id})?: [^;]+$`),
      /^(?:alt|else|opt|loop|par|and|critical|break)(?: [^;]+)?$/,
      /^end$/,
    ],
    "stateDiagram-v2": [
      /^stateDiagram-v2$/,
      /^direction (?:LR|RL|TB|BT)$/,
      new RegExp(`^state (?:"[^"]+" as )?${id}(?: <<(?:choice|fork|join)>>| \\{)?$`),
      /^\}$/,
      new RegExp(`^(?:${id}|\\[\\*\\]) --> (?:${id}|\\[\\*\\])(?:: ?[^;]+)?$`),
      new RegExp(`^${id}: ?.+$`),
    ],
  };
})();

const opens = /^(?:alt|opt|loop|par|critical|break|subgraph)\b|\{$/;
const closes = /^(?:end|\})$/;

/**
 * The problems of a mermaid diagram: lines of an unknown form and blocks that are not closed. Mermaid's own parser
 * would need 154 MB of packages.
 */
export function diagramProblems(diagram: string): readonly string[] {
  const lines = diagram
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("%%"));
  const [type = ""] = lines[0]?.split(" ") ?? [];
  const known = forms[type];
  if (known === undefined) return [`no type of diagram known here: ${type}`];
  const strange = lines.filter((line) => !known.some((form) => form.test(line)));
  const open = lines.filter((line) => opens.test(line)).length;
  const closed = lines.filter((line) => closes.test(line)).length;
  return [...strange, ...(open === closed ? [] : [`${open} blocks are opened and ${closed} closed`])];
}
