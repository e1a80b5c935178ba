// Reading collections whole: their bounds are small.
import type { CollectedVideo, Collection } from "../../gen/scrollery/v1/collections_service_pb";
import { more } from "../api/more";

/** All collections of the account, newest first: at most 200. */
export async function allCollections(signal?: AbortSignal): Promise<Collection[]> {
  const all: Collection[] = [];
  for (let pageToken: string | undefined; ; ) {
    const page = await more.collections.listCollections({ pageSize: 100, pageToken }, { signal });
    all.push(...page.collections);
    if (!page.nextPageToken) return all;
    pageToken = page.nextPageToken;
  }
}

export type Whole = { collection: Collection; videos: CollectedVideo[] };

/** A collection with all its videos in order, at most 500; null where there is none. */
export async function wholeCollection(id: string, signal?: AbortSignal): Promise<Whole | null> {
  const videos: CollectedVideo[] = [];
  for (let pageToken: string | undefined; ; ) {
    const page = await more.collections.getCollection({ id, limit: 100, pageToken }, { signal });
    if (!page.collection) return null;
    videos.push(...page.videos);
    if (!page.nextPageToken) return { collection: page.collection, videos };
    pageToken = page.nextPageToken;
  }
}
