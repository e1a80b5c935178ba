// The journey over REST, with the types of openapi-typescript and the calls of openapi-fetch.
import createClient from "openapi-fetch";
import type { paths } from "./gen/rest.js";

export async function journey(baseUrl: string, claimToken: string): Promise<string> {
  // Lists also come as CSV and NDJSON: the media type chooses the JSON.
  const open = createClient<paths, "application/json">({ baseUrl });
  const { data: claim, error: refused } = await open.POST("/v1/subscribe/claim", { body: { claimToken } });
  if (!claim) throw new Error(refused?.message);
  if (claim.status !== "completed") return `not paid yet: ${claim.status}`;
  const apiKey: string = claim.apiKey; // of a completed claim alone

  const client = createClient<paths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
  const started = await client.POST("/v1/scrolls", { body: { prompt: "latte art", idempotencyKey: "monday-1" } });
  if (!started.data) throw new Error(started.error.error);
  const id: string = started.data.scroll.id;

  const { data, error } = await client.GET("/v1/outliers/list", { params: { query: { platform: "tiktok", minScore: 3 } } });
  if (!data) throw new Error(`${error.error}: ${error.message}`);
  const captions: string[] = [];
  for (const outlier of data.outliers) {
    const caption: string | null | undefined = outlier.video.metadata?.caption;
    captions.push(`${outlier.score.toFixed(1)} ${caption ?? ""}`);
  }
  // @ts-expect-error There is no such property.
  data.outliers[0]?.video.metadat;
  return [id, ...captions].join("\n");
}
