// The contract between kernel and browser: what a trace and its picture are.

export interface Source {
  cell: string;
  line: number;
  text: string;
  span?: [number, number];
}

export interface Saved {
  name: string;
  bytes: number;
  shape?: number[];
  dtype?: string;
  version?: number;
  stale?: boolean;
  now?: number;
}

export interface Node {
  id: number;
  kind: string;
  op: string;
  label: string;
  named: boolean;
  expr: string;
  value: number | string;
  grad: number | string | null;
  rule: string;
  saved: Saved[];
  source: Source | null;
  scope: string;
  fold?: number;
  members?: number;
  outs?: number;
  requires_grad?: boolean;
  shape?: number[];
  dtype?: string;
  function?: string;
  array?: number | null;
  grad_array?: number | null;
  view?: { base: number; version?: number };
  version?: number;
  stops?: string;
  layer?: number;
  made_by?: number[];
}

export interface Broadcast {
  shape: number[];
  to: number[];
  axes: number[];
}

export interface Edge {
  id: number;
  source: number;
  target: number;
  slot: number;
  local: number | string | null;
  local_text: string;
  carries_grad: boolean;
  shut?: boolean;
  amount?: boolean;
  broadcast?: Broadcast;
  stops?: string;
  words?: string;
  makes?: number[];
}

export interface Step {
  phase: string;
  kind: string;
  node: number;
  edge: number | null;
  say: string;
  sends?: number;
  raw?: number;
  after?: number;
}

export interface Numbers {
  shape: number[];
  dtype: string;
  low: number | null;
  high: number | null;
  mean: number | null;
  std: number | null;
  odd: number;
  rows: number;
  cols: number;
  block: number[];
  cells: (number | string | null)[];
}

export interface Trace {
  title: string;
  root: number;
  nodes: Node[];
  edges: Edge[];
  steps: Step[];
  engine?: string;
  arrays?: Numbers[];
  notices?: string[];
  unused?: string[];
}

export interface Card {
  id: number;
  x: number;
  y: number;
  w: number;
  h: number;
  name: string;
  expr: string;
  rows?: [string, string][];
  at?: number;
}

export interface Frame {
  fold: number;
  name: string;
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Wire {
  id: number;
  d: string;
  px: number;
  py: number;
  pw: number;
  text?: string[];
}

export interface Picture {
  w: number;
  h: number;
  cards: Card[];
  wires: Wire[];
  prog: string;
  frames?: Frame[];
}
