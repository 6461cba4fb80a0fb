// A request to one of Campaign's servers.

/// A server that requests go to, and how long each of them may take.
struct PostbackServer: Sendable, Hashable {
    /// The scheme, host and port, and the path.
    let url: String
    /// What reasons call it: it holds nothing of a person.
    let name: String
    /// The limit for a request and its answer.
    let timeout: Duration
}

/// A hit's request. Its query names a person: it appears in no log, reason or span.
struct PostbackRequest: Sendable {
    /// The hit's position in the batch.
    let position: Int
    /// Where it goes.
    let server: PostbackServer
    /// Tenant, product, delivery and broadlog id: requests of one notification are sent in order.
    let notification: Notification
    /// What it asks for, from the question mark on.
    let query: String

    /// What one recipient got.
    struct Notification: Hashable, Sendable {
        let server: PostbackServer
        let tenant: String
        let delivery: String
        let broadlog: String
    }
}
