/** What went wrong with a call, in words for its user: the tool's answer is this text, with `isError`. */
export class Failure extends Error {}
