// What is wrong with the keys of the webhook sink.
internal import WebhookSink

extension WebhookConfiguration {
    /// Refuses what the sink cannot use; for a server that has one.
    static func check(_ values: inout ConfigurationValues) {
        let url = values.text("webhook.url")
        if url.isEmpty {
            values.refuse(
                "webhook.url", "the webhook sink needs it, as in https://example.com/hits")
        } else {
            do throws(WebhookURL.Refusal) {
                _ = try WebhookURL(url)
            } catch {
                values.refuse("webhook.url", "has to \(error)")
            }
        }
        if values.text("webhook.secret_file").isEmpty {
            values.refuse(
                "webhook.secret_file",
                "the webhook sink needs it: (printf whsec_; openssl rand -base64 32) > FILE")
        }
        if let word = AddressGuard.badWord(in: values.text("webhook.allow")) {
            values.refuse(
                "webhook.allow",
                "\"\(word)\" is neither a host, nor an address, nor a network such as 10.1.0.0/16")
        }
        if !WebhookURL.isURIText(values.text("webhook.source")) {
            values.refuse("webhook.source", "has to be a URI reference: printable ASCII, no spaces")
        }
    }
}
