// What videos are called of which an answer has the ids alone.
import { api } from "../api/client";
import { useQuery } from "../api/query";
import { nameOf } from "../ui/video";

/** The most ids of one call. */
const most = 50;

/** The names of the first videos by their ids; undefined until they are read. */
export function useNames(ids: string[]): Map<string, string> | undefined {
  return useQuery(async (signal) => {
    const { videos } = ids.length > 0 ? await api.library.getVideos({ ids: ids.slice(0, most) }, { signal }) : { videos: [] };
    return new Map(videos.flatMap(({ video }) => (video ? [[video.id, nameOf(video).slice(0, 80)] as const] : [])));
  }, [ids.join()]).data;
}
