// The journey over REST, with the client that @hey-api/openapi-ts generates.
import { createClient } from "./gen/hey/client/index.js";
import {
  archiveLibraryVideo, claimSubscription, createScroll, getScroll, getUsage, listHooks, listOutliers, listTrends, putRules, setWorkspace, subscribe,
} from "./gen/hey/index.js";
import { pause, pay, type Seen, type Tour } from "./tour.js";

export async function journey({ baseUrl, ...tour }: Tour): Promise<Seen> {
  const open = createClient({ baseUrl, throwOnError: true });
  const { data: checkout } = await subscribe({ client: open, body: { billingInterval: "monthly", plan: "pro" }, throwOnError: true });
  await pay(checkout.url, tour.email);
  const { data: claim } = await claimSubscription({ client: open, body: { claimToken: checkout.claimToken }, throwOnError: true });
  if (claim.status !== "completed") throw new Error(`not paid yet: ${claim.status}`);
  const key: string = claim.apiKey; // of a completed claim alone

  const client = createClient({ baseUrl, auth: () => key });
  const strict = { client, throwOnError: true } as const;
  await setWorkspace({ ...strict, body: { description: tour.description, competitors: tour.competitors } });
  await putRules({ ...strict, body: { text: tour.rules } });

  const scrolls = [];
  for (let run = 1; run <= tour.scrolls; run++) {
    let { scroll } = (await createScroll({ ...strict, body: { idempotencyKey: `journey-${run}` } })).data;
    while (scroll.status === "queued" || scroll.status === "running") {
      await pause();
      const found = (await getScroll({ ...strict, query: { id: scroll.id } })).data;
      if (!found.scroll) throw new Error(`there is no scroll ${scroll.id}`);
      scroll = found.scroll;
    }
    if (scroll.status !== "completed") throw new Error(`the scroll is ${scroll.status}: ${scroll.failureCode}`);
    scrolls.push(scroll);
  }

  const hooks: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = (await listHooks({ ...strict, query: { cursor } })).data;
    hooks.push(...page.hooks.map((hook) => hook.video.externalId));
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  const { trends } = (await listTrends(strict)).data;
  const { data, error } = await listOutliers({ client, query: { minScore: 3 } });
  if (error?.error === "invalid_request") throw new Error(error.issues.map((issue) => `${issue.path}: ${issue.message}`).join()); // of this code alone
  if (!data) throw new Error(error?.message);
  const { outliers } = data;
  const captions = outliers.map((outlier): string | null | undefined => outlier.video.metadata?.caption);
  if (!captions.some((caption) => caption)) throw new Error("no outlier has a caption");

  const videoId = outliers[0]?.video.id ?? "";
  await archiveLibraryVideo({ ...strict, body: { videoId, archived: true } });
  const after = (await listOutliers({ ...strict, query: { minScore: 3 } })).data;
  const usage = (await getUsage(strict)).data;
  return {
    newVideos: scrolls.map((scroll) => scroll.resultCounts.videos),
    dropped: scrolls.map((scroll) => scroll.progress.dropped),
    hooks: hooks.sort(),
    outliers: outliers.map((outlier) => outlier.video.externalId).sort(),
    trends: trends.map((trend) => trend.key).sort(),
    archivedIsListed: after.outliers.some((outlier) => outlier.video.id === videoId),
    subscription: usage.status,
  };
}
