// The journey over REST, with the types of openapi-typescript and the calls of openapi-fetch.
import createClient from "openapi-fetch";
import type { paths } from "./gen/rest.js";
import { pause, pay, type Seen, type Tour } from "./tour.js";

/** The data of an answer; throws where the call was refused. */
function need<T>({ data, error }: { data?: T; error?: { error: string; message: string } }): T {
  if (data === undefined) throw new Error(`${error?.error}: ${error?.message}`);
  return data;
}

export async function journey({ baseUrl, ...tour }: Tour): Promise<Seen> {
  // Lists also come as CSV and NDJSON: the media type chooses the JSON.
  const open = createClient<paths, "application/json">({ baseUrl });
  const checkout = need(await open.POST("/v1/subscribe", { body: { billingInterval: "monthly", plan: "pro" } }));
  await pay(checkout.url, tour.email);
  const claim = need(await open.POST("/v1/subscribe/claim", { body: { claimToken: checkout.claimToken } }));
  if (claim.status !== "completed") throw new Error(`not paid yet: ${claim.status}`);
  const key: string = claim.apiKey; // of a completed claim alone

  const client = createClient<paths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  need(await client.POST("/v1/workspace", { body: { description: tour.description, competitors: tour.competitors } }));
  need(await client.PUT("/v1/rules", { body: { text: tour.rules } }));

  const scrolls = [];
  for (let run = 1; run <= tour.scrolls; run++) {
    let { scroll } = need(await client.POST("/v1/scrolls", { body: { idempotencyKey: `journey-${run}` } }));
    while (scroll.status === "queued" || scroll.status === "running") {
      await pause();
      const found = need(await client.GET("/v1/scrolls", { params: { query: { id: scroll.id } } }));
      if (!found.scroll) throw new Error(`there is no scroll ${scroll.id}`);
      scroll = found.scroll;
    }
    if (scroll.status !== "completed") throw new Error(`the scroll is ${scroll.status}: ${scroll.failureCode}`);
    scrolls.push(scroll);
  }

  const hooks: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = need(await client.GET("/v1/hooks/list", { params: { query: { cursor } } }));
    hooks.push(...page.hooks.map((hook) => hook.video.externalId));
    if (!page.nextCursor) break;
    cursor = page.nextCursor;
  }
  const { trends } = need(await client.GET("/v1/trends/list"));
  const { data, error } = await client.GET("/v1/outliers/list", { params: { query: { minScore: 3 } } });
  if (error?.error === "invalid_request") throw new Error(error.issues.map((issue) => `${issue.path}: ${issue.message}`).join()); // of this code alone
  if (!data) throw new Error(`${error.error}: ${error.message}`);
  const { outliers } = data;
  const captions = outliers.map((outlier): string | null | undefined => outlier.video.metadata?.caption);
  if (!captions.some((caption) => caption)) throw new Error("no outlier has a caption");
  // @ts-expect-error There is no such property.
  outliers[0]?.video.metadat;

  const videoId = outliers[0]?.video.id ?? "";
  need(await client.POST("/v1/library/archive", { body: { videoId, archived: true } }));
  const after = need(await client.GET("/v1/outliers/list", { params: { query: { minScore: 3 } } }));
  const usage = need(await client.GET("/v1/usage"));
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
