// Reading the library with archived videos. A video does not say that it is archived: the
// list without archived ones, read beside it, does.
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { api } from "../api/client";
import type { Page } from "../api/query";

export type Entry = { video: Video; archived: boolean };

type Wanted = {
  q: string | undefined; creator: string | undefined; platform: string | undefined; kind: string | undefined; hashtag: string | undefined; minViews: number | undefined;
  postedAfter: number | undefined; postedBefore: number | undefined; annotated: boolean | undefined;
};

/** The most pages of the second list for one page of the first: both have the same order. */
const most = 10;

type Place = { all: string; active: string; known: string[] };

export async function readVideos(wanted: Wanted, archivedToo: boolean, token: string | undefined, signal: AbortSignal): Promise<Page<Entry>> {
  const read = (includeArchived: boolean, pageToken: string | undefined) =>
    api.library.getLibrary({ ...wanted, includeArchived: includeArchived || undefined, limit: 25, pageToken: pageToken || undefined }, { signal });
  if (!archivedToo) {
    const page = await read(false, token);
    return { items: page.videos.map((video) => ({ video, archived: false })), next: page.nextPageToken };
  }
  const place: Place = token ? (JSON.parse(token) as Place) : { all: "", active: "", known: [] };
  const page = await read(true, place.all);
  const wantedIds = new Set(page.videos.map((video) => video.id));
  const active = new Set(place.known);
  let next: string | undefined = place.active;
  // The active list is read until it has passed the end of this page.
  for (let turn = 0; turn < most && next !== undefined && !passed(page.videos, wantedIds, active); turn++) {
    const answer = await read(false, next);
    for (const video of answer.videos) active.add(video.id);
    next = answer.nextPageToken || undefined;
  }
  const items = page.videos.map((video) => ({ video, archived: !active.has(video.id) }));
  if (!page.nextPageToken) return { items, next: undefined };
  const left = [...active].filter((id) => !wantedIds.has(id));
  return { items, next: JSON.stringify({ all: page.nextPageToken, active: next, known: left } satisfies Record<keyof Place, unknown>) };
}

/** Whether the active list is known to the end of a page: its last video is there, or one behind it. */
function passed(videos: Video[], ids: Set<string>, active: Set<string>): boolean {
  const last = videos.at(-1);
  return last === undefined || active.has(last.id) || [...active].some((id) => !ids.has(id));
}
