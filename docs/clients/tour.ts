// What the programs of this folder share: their input, their output, and the test checkout.

export interface Tour {
  baseUrl: string;
  email: string;
  description: string;
  competitors: string[];
  rules: string;
  scrolls: number;
}

/** What a program saw. Every client sees the same of the same videos: ids are those of the platforms, sorted. */
export interface Seen {
  newVideos: number[];
  dropped: number[];
  hooks: string[];
  outliers: string[];
  trends: string[];
  /** Of the video that was archived: whether it is still listed. */
  archivedIsListed: boolean;
  subscription: string;
}

/** Fills in the form of the test checkout, as a person does in a browser. */
export async function pay(checkout: string, email: string): Promise<void> {
  const answer = await fetch(checkout, { method: "POST", body: new URLSearchParams({ email, action: "pay" }) });
  if (!answer.ok) throw new Error(`the checkout answered ${answer.status}`);
}

export const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

declare const process: { argv: string[]; exitCode: number };

/** Runs a journey for the tour of the command line and prints what it saw. */
export async function main(journey: (tour: Tour) => Promise<Seen>): Promise<void> {
  console.log(JSON.stringify(await journey(JSON.parse(process.argv[2] ?? "{}"))));
}
