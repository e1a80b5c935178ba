// The same with the client that @hey-api/openapi-ts generates.
import { claimSubscription, listOutliers } from "./gen/hey/index.js";
import { createClient } from "./gen/hey/client/index.js";

export async function journey(baseUrl: string, claimToken: string): Promise<string[]> {
  const open = createClient({ baseUrl });
  const { data: claim } = await claimSubscription({ client: open, body: { claimToken } });
  if (claim?.status !== "completed") return [];
  const apiKey: string = claim.apiKey; // of a completed claim alone

  const client = createClient({ baseUrl, auth: () => apiKey });
  const { data, error } = await listOutliers({ client, query: { minScore: 3 } });
  if (!data) throw new Error(error?.message);
  return data.outliers.map((outlier) => outlier.video.metadata?.caption ?? "");
}
