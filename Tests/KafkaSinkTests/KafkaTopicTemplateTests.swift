// Topics that are made of a hit's tenant and kind.
internal import KafkaSink
internal import Testing
internal import TrackingRules

struct KafkaTopicTemplateTests {
    @Test(
        "a template's places are filled",
        arguments: [
            ("hits", "hits", true), ("{tenant}", "acme", false), ("{kind}", "click", false),
            ("hits.{tenant}-{kind}_1", "hits.acme-click_1", false),
            ("{tenant}{tenant}", "acmeacme", false),
        ])
    func filled(_ text: String, _ name: String, _ isFixed: Bool) throws {
        let template = try #require(KafkaTopicTemplate(text))
        #expect(template.name(tenant: "acme", kind: "click") == name)
        #expect(template.isFixed == isFixed)
    }

    @Test(
        "a template is refused that could make a name that Kafka does not take",
        arguments: [
            "", ".", "..", "a/b", "ä", "a b", "{", "{}", "{app}", "{tenant", "tenant}", "a}",
            String(repeating: "a", count: 250), "{tenant}{tenant}{tenant}{tenant}",
        ])
    func refused(_ text: String) { #expect(KafkaTopicTemplate(text) == nil) }

    @Test("a name may have 249 characters, with the longest tenant and kind")
    func longest() throws {
        #expect(KafkaTopicTemplate(String(repeating: "a", count: 249)) != nil)
        let kind = try #require(HitKind.allCases.map { "\($0.name)".utf8.count }.max())
        let rest = String(repeating: "a", count: 249 - 64 - kind)
        #expect(KafkaTopicTemplate("{tenant}{kind}" + rest) != nil)
        #expect(KafkaTopicTemplate("{tenant}{kind}a" + rest) == nil)
    }
}
