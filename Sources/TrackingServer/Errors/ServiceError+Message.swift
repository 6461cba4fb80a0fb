internal import TrackingCore

extension ServiceError {
    /// The message for clients: what is wrong, the value seen, the rule, and the fix.
    var message: String {
        switch self {
        case .sequence(let seen, let last):
            "sequence \(seen) does not rise: the last one was \(last); start at 1 or above, "
                + "and let each request's be higher than the one before"
        case .request(let violation): "\(violation.field): \(violation.description)"
        case .messageCount: "this method takes exactly one request message"
        case .closing: "the server is closing: connect again and resend"
        case .overloaded: "the server takes nothing more now: send it again later"
        case .quota(let excess, _):
            "quota: \(excess.perSecond) \(excess.rate.rawValue) per second are allowed: send it "
                + "again after the delay, and less of it"
        case .metadata(let bytes, let maxBytes):
            "metadata: \(bytes) bytes of names and values, the limit is \(maxBytes): send less"
        case .timeout(let value):
            "grpc-timeout: \"\(value)\" is no time: send it once, as "
                + "1 to 8 digits and one of H, M, S, m, u, n"
        case .deadlinePassed:
            "the time of grpc-timeout is over: resend what was not acked, and give the "
                + "call longer"
        case .credentialsMissing:
            "credentials are needed: send an API key or a token as "
                + "\"authorization: Bearer …\", or use a client certificate"
        case .credentialsRefused:
            "the credentials are not accepted: check them, and their expiry"
        case .credentialsExpired:
            "the credentials have expired: connect again with new ones and resend"
        case .scopeMissing:
            "the credentials do not allow this: ask for ones with the scope needed"
        case .messageTooLarge(let limit):
            "a message takes at most \(limit) bytes, also once it is decompressed, and this one "
                + "takes more or cannot be read: send fewer events in each request"
        case .messageNotInflated:
            "a compressed message breaks off or is damaged: send what grpc-encoding says, whole"
        case .messageUnfinished(let time):
            "what the call sends was not whole after \(time.components.seconds) s: end it, send "
                + "smaller messages, or over a faster connection"
        case .serviceUnknown(let name):
            "there is no service \"\(name.prefix(128))\" here: ask for \"\" or for one of those "
                + "that List names"
        case .watchersExceeded(let limit):
            "\(limit) watches are open, as many as health.max_watchers allows: come back later"
        }
    }
}
