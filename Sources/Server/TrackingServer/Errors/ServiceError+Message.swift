internal import Credentials
internal import HTTP2Edge
internal import Operations
internal import TrackingRules
internal import WireFormat

extension ServiceError {
    /// The message for clients: what is wrong, the value seen, the rule, and the fix.
    var message: String {
        switch self {
        case .sequence(let seen, let last):
            "sequence \(seen) does not increase: the last one was \(last); start at 1 or above, "
                + "and increase it with each request"
        case .request(let violation): "\(violation.field): \(violation.description)"
        case .messageCount: "this method takes exactly one request message"
        case .closing: "the server is closing: connect again and resend"
        case .overloaded: "the server is overloaded: send it again later"
        case .quota(let excess, _):
            "quota: \(excess.perSecond) \(excess.rate.rawValue) per second are allowed: send it "
                + "again after the delay, and less of it"
        case .metadata(let bytes, let maxBytes):
            "metadata: \(bytes) bytes of names and values, the limit is \(maxBytes): send less"
        case .metadataText(let name):
            "metadata: \(name.cut(toScalars: 64).printable) has more than "
                + "\(HeaderText.maxOtherBytes) bytes that are not ASCII: gRPC has such a value "
                + "in base64, by a name that ends with -bin"
        case .timeout(let value):
            "grpc-timeout: \"\(value)\" is malformed: send it once, as "
                + "1 to 8 digits and one of H, M, S, m, u, n"
        case .deadlinePassed:
            "the deadline of grpc-timeout has passed: resend what was not acked, with a "
                + "longer timeout"
        case .credentialsMissing:
            "credentials are required: send an API key or a token as "
                + "\"authorization: Bearer …\", or use a client certificate"
        case .credentialsRefused:
            "the credentials were refused: check them, and their expiry"
        case .credentialsExpired:
            "the credentials have expired: connect again with new ones and resend"
        case .scopeMissing(let scope):
            "the credentials lack the "
                + "\(scope.map { "scope `\($0.rawValue)`" } ?? "required scope"): "
                + "use others that have it"
        case .messageTooLarge(let limit):
            "a message may have at most \(limit) bytes, also once decompressed, and this one "
                + "has more: send fewer events in each request"
        case .messageFlag(1):
            "a message's compressed flag is 1, and the call has no grpc-encoding that compresses: "
                + "send the header with gzip or deflate, or send the message plain with flag 0"
        case .messageFlag(let flag):
            "a message's compressed flag is \(flag), and must be 0, or 1 for a compressed message: "
                + "send each message with its 5 bytes of prefix"
        case .messageNotInflated:
            "a compressed message is truncated or damaged, or has other bytes behind it: send it "
                + "whole, as grpc-encoding says"
        case .messageUnfinished(let time):
            "the request was incomplete after \(time.components.seconds) s: half-close the call, "
                + "send smaller messages, or use a faster connection"
        case .serviceUnknown(let name):
            "there is no service \"\(name.cut(toScalars: 128))\" here: ask for \"\" or for one of "
                + "those that List names"
        case .watchersExceeded(let limit):
            "this peer has its part of the \(limit) watches that health.max_watchers allows: come "
                + "back later"
        case .tapsExceeded(let limit, let key): "\(TapRefusal.exceeded(limit, key: key))"
        case .erasureFailed(let reason): "the subject is not forgotten: \(reason)"
        case .deliveriesFailed(let reason): "no totals are stored: \(reason)"
        case .internalFailure:
            "the server cannot read a message that is within its limits, which is a bug: report it"
        }
    }
}
