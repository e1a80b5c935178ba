// The MCP App of getOutliers: the plot, its table, and why a video is above its peers.
import { useEffect, useMemo, useState } from "preact/hooks";
import { compact, number } from "../i18n/format";
import { t, word } from "../i18n/t";
import { Scatter, inside, summaryOf, type Area, type Point } from "../pages/outliers-scatter";
import { Badge, Button, Card, Quote } from "../ui/parts";
import { Empty } from "../ui/states";
import { Table } from "../ui/table";
import { Twin } from "../ui/twin";
import { listOf, numberOf, objectOf, read, textOf } from "./bridge";
import { start, type Shown } from "./frame";

/** The most videos that a call asks for. */
const most = 25;

type Row = Point & { name: string };
type Fields = Record<string, unknown>;

/** A row of an answer, which is compact or full. */
function rowOf(item: Fields): Row {
  const video = objectOf(item.video) ?? item;
  const strange = objectOf(video.untrusted) ?? {};
  const words = objectOf(strange.metadata) ?? strange;
  return {
    id: textOf(video.id), kind: textOf(video.platform), views: numberOf(video.views ?? objectOf(video.metrics)?.views) ?? 0,
    baseline: numberOf(item.baselineViews) ?? 0, score: numberOf(item.score) ?? 0, peers: numberOf(item.sampleCount) ?? 0,
    listed: true, postedAt: numberOf(video.postedAt), doubtful: item.doubtful === true,
    name: textOf(words.title) || textOf(words.caption) || textOf(strange.handle) || textOf(video.id),
  };
}

/** What a call for more differs in; undefined where there is no more. The list has no cursor of its own: an answer has one where it was cut. */
function nextOf(page: Fields, given: Fields): Fields | undefined {
  const cursor = textOf(page.next);
  const came = listOf(page.outliers).length;
  if (cursor) return { cursor, ...(page.limit ? { limit: page.limit } : {}) };
  const asked = numberOf(page.limit) ?? numberOf(given.limit) ?? came;
  return came > 0 && came >= asked && asked < most && page.from === undefined ? { limit: Math.min(most, asked * 4) } : undefined;
}

function Outliers({ data, given, host }: Shown) {
  const [page, setPage] = useState(data);
  const [rows, setRows] = useState<Row[]>([]);
  const [area, setArea] = useState<Area | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const add = (answer: Fields, to: Row[]) => {
    const known = new Set(to.map((row) => row.id));
    setRows([...to, ...listOf(answer.outliers).map(rowOf).filter((row) => row.id && !known.has(row.id))].sort((a, b) => b.score - a.score));
    setPage(answer);
  };
  useEffect(() => { add(data, []); setOpen(null); }, [data]);
  const names = useMemo(() => new Map(rows.map((row) => [row.id, row.name])), [rows]);
  const shown = rows.filter(inside(area));
  const next = nextOf(page, given);
  const more = host.call && next ? async () => {
    setBusy(true);
    try {
      add({ ...read(await host.call!("getOutliers", { ...given, ...next })), limit: next.limit ?? given.limit, from: next.cursor }, rows);
      setProblem("");
    } catch (why) {
      setProblem(why instanceof Error ? why.message : t("app.failed"));
    }
    setBusy(false);
  } : undefined;
  if (rows.length === 0) return <Empty title={t("outliers.none")} text={t("outliers.noneText")} />;
  const chosen = rows.find((row) => row.id === open);
  return (
    <>
      {area && <Button onClick={() => setArea(null)}>{t("outliers.whole")}</Button>}
      <Scatter points={rows} names={names} area={area} onArea={setArea} summary={summaryOf(shown)} open={host.call && setOpen} />
      <Twin title={t("outliers.plot")} rows={shown} id={(row) => row.id} columns={[
        { title: t("table.video"), head: true, cell: (row) => <Quote text={row.name} lines={2} /> },
        { title: t("filter.platform"), cell: (row) => word("platform", row.kind) },
        { title: t("outliers.score"), number: true, cell: (row) => number(row.score, 2) },
        { title: t("outliers.views"), number: true, cell: (row) => number(row.views) },
        { title: t("outliers.baseline"), number: true, cell: (row) => number(row.baseline) },
        { title: t("outliers.peers"), number: true, cell: (row) => number(row.peers) },
        ...(host.call ? [{ title: t("app.why"), cell: (row: Row) => <Button aria-label={t("app.whyOf", { name: row.name.slice(0, 80) })} onClick={() => setOpen(row.id)}>{t("app.why")}</Button> }] : []),
      ]} />
      {problem && <p class="notice bad" role="alert">{problem}</p>}
      {more && <div class="row center"><Button busy={busy} onClick={() => void more()}>{t("state.more")}</Button></div>}
      {chosen && host.call && <Why key={chosen.id} row={chosen} call={host.call} />}
    </>
  );
}

/** The peers that a score rests on. */
function Why({ row, call }: { row: Row; call: NonNullable<Shown["host"]["call"]> }) {
  const [explanation, setExplanation] = useState<Fields>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let gone = false;
    call("explainOutlier", { videoId: row.id })
      .then((result) => { if (!gone) setExplanation(objectOf(read(result).explanation) ?? {}); })
      .catch((why: unknown) => { if (!gone) setProblem(why instanceof Error ? why.message : t("app.failed")); });
    return () => { gone = true; };
  }, [row.id]);
  const basis = objectOf(explanation?.basis === "niche" ? explanation?.niche : explanation?.peers);
  const views = (value: unknown) => (numberOf(value) === undefined ? "–" : number(numberOf(value) ?? 0));
  return (
    <Card title={t("app.why")}>
      <p class="strong"><Quote text={row.name} lines={2} /></p>
      <p>{t("outliers.point", { score: number(row.score, 1), views: compact(row.views), baseline: compact(row.baseline), n: row.peers })}</p>
      {problem && <p class="notice bad" role="alert">{problem}</p>}
      {explanation && (
        <>
          <p class="row tight">{listOf(basis?.counts).map((count, i) => (
            <Badge key={i} tone={count.reason === "used" ? "good" : "plain"}>{number(numberOf(count.count) ?? 0)} × {word("reason", textOf(count.reason))}</Badge>
          ))}</p>
          <Table caption={t("outliers.peers")} captioned rows={listOf(basis?.videos)} id={(peer) => textOf(peer.videoId)} columns={[
            { title: t("table.video"), head: true, cell: (peer) => textOf(peer.videoId) },
            { title: t("table.use"), cell: (peer) => word("reason", textOf(peer.reason)) },
            { title: t("outliers.views"), number: true, cell: (peer) => views(peer.views) },
            { title: t("peers.expected"), number: true, cell: (peer) => views(peer.expectedViews) },
          ]} />
        </>
      )}
    </Card>
  );
}

start(t("nav.outliers"), Outliers);
