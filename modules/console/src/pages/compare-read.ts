// What the comparison reads: videos of one's own and of competitors, their readings, their creators and their hooks.
import type { CreatorRhythm } from "../../gen/scrollery/v1/library_creator_pb";
import type { Hook, Video } from "../../gen/scrollery/v1/library_pb";
import { api } from "../api/client";
import type { Point } from "./compare-count";

const day = 86_400_000;
/** How many videos of each side a look at the library finds: the newest of it. */
const looked = 100;
/** How many curves are drawn: each is one more read. */
const drawn = { own: 6, competitor: 24 };
/** The most creators of each side whose posting times are counted. */
const creators = 10;
/** How many hooks of each side are counted, in pages of 100. */
const hookPages = 5;

export type Side = "own" | "competitor";
export const sides: Side[] = ["own", "competitor"];
export type Both<T> = Record<Side, T>;

/** Reads something of both sides. */
export async function both<T>(read: (side: Side) => Promise<T>): Promise<Both<T>> {
  const [own, competitor] = await Promise.all(sides.map(read));
  return { own: own as T, competitor: competitor as T };
}

/** The videos that the library met last, archived ones left out. */
export const readVideos = (signal: AbortSignal): Promise<Both<Video[]>> => both(async (kind) => (await api.library.getLibrary({ kind, limit: looked }, { signal })).videos);

/** Since when YouTube takes videos of three minutes as Shorts, and no longer of one. */
const longShorts = Date.UTC(2024, 9, 15);

/** What a video competes with: those of its platform, on YouTube of its length, as for scores. */
export function formatOf({ platform, postedAt = 0, metadata }: Video): string {
  if (platform !== "youtube") return platform;
  const [seconds, tags] = [metadata?.durationSeconds, metadata?.hashtags];
  const short = typeof seconds === "number" && seconds > 0
    ? seconds <= (postedAt < longShorts ? 60 : 180)
    : Array.isArray(tags) && tags.some((tag) => typeof tag === "string" && /^#?shorts?$/i.test(tag));
  return short ? "youtube_short" : "youtube_long";
}

export type Curve = { video: Video; points: Point[] };

/** The curves of the newest videos of a format, by their usable readings since posting. */
export function readCurves(videos: Both<Video[]>, format: string, signal: AbortSignal): Promise<Both<Curve[]>> {
  return both(async (side) => {
    const newest = videos[side].filter((one) => formatOf(one) === format && one.postedAt !== undefined).sort((a, b) => (b.postedAt ?? 0) - (a.postedAt ?? 0)).slice(0, drawn[side]);
    const curves = await Promise.all(newest.map(async (video) => {
      const { observations } = await api.library.listObservations({ videoId: video.id, limit: 100 }, { signal });
      const points = observations.flatMap(({ usable, views, observedAt }) => {
        const age = observedAt - (video.postedAt ?? 0);
        return usable && views !== undefined && age >= 0 ? [{ x: age / day, y: views }] : [];
      });
      return { video, points: points.sort((a, b) => a.x - b.x) };
    }));
    return curves.filter(({ points }) => points.length > 0);
  });
}

export type Times = { creators: number; dated: number; weekdays: number[]; hours: number[] };

/** When the creators of some videos post: the sums of what each one's videos in the library say, in UTC. */
export function readTimes(videos: Both<Video[]>, signal: AbortSignal): Promise<Both<Times>> {
  return both(async (side) => {
    const found = new Map<string, { platform: string; videoId: string; n: number }>();
    for (const { id, platform, source } of videos[side]) {
      const handle = source?.handle?.replace(/^@/, "").toLowerCase();
      if (!handle) continue;
      const key = `${platform} ${handle}`;
      found.set(key, { platform, videoId: id, n: (found.get(key)?.n ?? 0) + 1 });
    }
    const most = [...found.values()].sort((a, b) => b.n - a.n).slice(0, creators);
    const answers = await Promise.all(most.map(({ videoId }) => api.library.getCreator({ videoId }, { signal })));
    return sumOf(answers.flatMap(({ creator }) => creator?.rhythm ?? []));
  });
}

function sumOf(rhythms: CreatorRhythm[]): Times {
  const sum = (of: (one: CreatorRhythm) => number[], length: number) => Array.from({ length }, (_, i) => rhythms.reduce((n, one) => n + (of(one)[i] ?? 0), 0));
  return { creators: rhythms.length, dated: rhythms.reduce((n, { dated }) => n + dated, 0), weekdays: sum(({ weekdays }) => weekdays, 7), hours: sum(({ hours }) => hours, 24) };
}

/** Hooks whose videos have a score, newest evidence first. */
export function readHooks(signal: AbortSignal): Promise<Both<Hook[]>> {
  return both(async (kind) => {
    const hooks: Hook[] = [];
    let pageToken: string | undefined;
    for (let page = 0; page < hookPages; page++) {
      const answer = await api.library.listHooks({ kind, limit: 100, pageToken }, { signal });
      hooks.push(...answer.hooks);
      pageToken = answer.nextPageToken;
      if (!pageToken) break;
    }
    return hooks.filter(({ score }) => score !== undefined);
  });
}
