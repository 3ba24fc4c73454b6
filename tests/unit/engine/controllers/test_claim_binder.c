/* Tests how a claim gets its volume, step by step, and how both are deleted. */
#include "engine/controllers/claim_binder.h"

#include "kube/object.h"
#include "kube/patch/patch.h"
#include "read_json.h"
#include "tree.h"

static struct json *parse(const char *text)
{
    return tree(quoted(arena, text));
}

static struct json *with(const struct json *object, const char *patch)
{
    return kube_patch_merge(arena, object, parse(patch));
}

static struct json *claim_of(const char *spec)
{
    return with(parse("{'metadata':{'name':'c','namespace':'d','uid':'u'},'spec':{"
                      "'accessModes':['ReadWriteOnce'],'storageClassName':'standard',"
                      "'resources':{'requests':{'storage':'1Gi'}}},'status':{'phase':'Pending'}}"),
                arena_printf(arena, "{'spec':%s}", spec));
}

static struct json *volume_of(const char *name, const char *size)
{
    return parse(arena_printf(arena,
                              "{'metadata':{'name':'%s','resourceVersion':'7'},'spec':{"
                              "'accessModes':['ReadWriteOnce','ReadOnlyMany'],"
                              "'storageClassName':'standard','capacity':{'storage':'%s'}},"
                              "'status':{'phase':'Available'}}",
                              name, size));
}

static const struct json *own_class(void)
{
    return parse("{'provisioner':'" CLAIM_PROVISIONER "'}");
}

static struct json *patch;
static struct claim_event event;

static bool used, overdue;

static enum claim_step next_step(const struct json *claim, const struct json *class_,
                                 const struct json *volume)
{
    const struct claim_view view = {
        .claim = claim, .class_ = class_, .volume = volume, .used = used, .overdue = overdue};
    return claim_next_step(arena, &view, &patch, &event);
}

static void test_volume_created_for_claim(void **state)
{
    struct json *claim = claim_of("{}");
    const struct json *class_ = own_class();
    assert_string_equal(claim_volume_name(arena, claim), "pvc-u");
    assert_int_equal(next_step(claim, class_, NULL), CLAIM_MAKE_VOLUME);
    struct json *volume = claim_make_volume(arena, claim, class_);
    assert_string_equal(kube_meta_annotation(volume, "trainyard.dev/volume"), "d/c");
    assert_int_equal(next_step(claim, class_, volume), CLAIM_PATCH_CLAIM);
    claim = kube_patch_merge(arena, claim, patch);
    assert_int_equal(next_step(claim, class_, volume), CLAIM_PATCH_VOLUME_STATUS);
    volume = kube_patch_merge(arena, volume, patch);
    assert_int_equal(next_step(claim, class_, volume), CLAIM_PATCH_STATUS);
    claim = kube_patch_merge(arena, claim, patch);
    assert_string_equal(json_get_string(json_at(claim, "status", "capacity", NULL), "storage", ""),
                        "1Gi");
    assert_int_equal(next_step(claim, class_, volume), CLAIM_DONE);
    assert_null(event.message);
    /* Without its volume the claim is lost. */
    assert_int_equal(next_step(claim, class_, NULL), CLAIM_LOSE);
    assert_string_equal(event.reason, "ClaimLost");
    claim = kube_patch_merge(arena, claim, patch);
    assert_int_equal(next_step(claim, class_, NULL), CLAIM_DONE);
}

static void test_volume_created_by_user(void **state)
{
    struct json *claim = claim_of("{'volumeName':'v'}");
    assert_int_equal(next_step(claim, NULL, NULL), CLAIM_WAIT);
    assert_string_equal(event.message, "volume \"v\" not found");
    struct json *volume = volume_of("v", "2Gi");
    assert_int_equal(next_step(claim, NULL, volume), CLAIM_PATCH_VOLUME);
    assert_string_equal(kube_meta_resource_version(patch), "7");
    volume = kube_patch_merge(arena, volume, patch);
    assert_int_equal(next_step(claim, NULL, volume), CLAIM_PATCH_VOLUME_STATUS);
    /* Another claim comes too late. */
    struct json *other = with(claim, "{'metadata':{'uid':'other'}}");
    assert_int_equal(next_step(other, NULL, volume), CLAIM_WAIT);
    assert_string_equal(event.message, "volume \"v\" already bound to a different claim.");
}

static void test_claim_waits_with_a_reason(void **state)
{
    static const struct {
        const char *spec, *class_, *volume_size, *reason, *message;
    } rows[] = {
        {"{'storageClassName':'none-such'}", NULL, NULL, "ProvisioningFailed",
         "storageclass.storage.k8s.io \"none-such\" not found"},
        {"{'storageClassName':''}", NULL, NULL, "FailedBinding",
         "no persistent volumes available for this claim and no storage class is set"},
        {"{}", "{'provisioner':'example.com/nfs'}", NULL, "ExternalProvisioning",
         "waiting for a volume to be created, either by external provisioner \"example.com/nfs\" "
         "or manually created by system administrator"},
        {"{'volumeName':'v'}", NULL, "1Mi", "VolumeMismatch",
         "Cannot bind to requested volume \"v\": requested PV is too small"},
        {"{'volumeName':'v','storageClassName':'x'}", NULL, "1Gi", "VolumeMismatch",
         "Cannot bind to requested volume \"v\": storageClassName does not match"},
        {"{'volumeName':'v','volumeMode':'Block'}", NULL, "1Gi", "VolumeMismatch",
         "Cannot bind to requested volume \"v\": incompatible volumeMode"},
        {"{'volumeName':'v','accessModes':['ReadWriteMany']}", NULL, "1Gi", "VolumeMismatch",
         "Cannot bind to requested volume \"v\": incompatible accessMode"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(
            next_step(claim_of(rows[i].spec), rows[i].class_ ? parse(rows[i].class_) : NULL,
                      rows[i].volume_size ? volume_of("v", rows[i].volume_size) : NULL),
            CLAIM_WAIT);
        assert_string_equal(event.reason, rows[i].reason);
        assert_string_equal(event.message, rows[i].message);
    }
}

/* A claim of a class without a provisioner here gets a directory, but only after another
 * provisioner had time to act. */
static void test_classes_without_provisioner(void **state)
{
    overdue = true;
    assert_int_equal(next_step(claim_of("{'storageClassName':'gp2'}"), NULL, NULL),
                     CLAIM_MAKE_VOLUME);
    assert_string_equal(event.reason, "ProvisionedHere");
    assert_string_equal(event.message,
                        "class \"gp2\" has no provisioner here: the claim gets a directory of this "
                        "machine, as with class \"standard\"");
    assert_int_equal(next_step(claim_of("{}"), parse("{'provisioner':'example.com/nfs'}"), NULL),
                     CLAIM_MAKE_VOLUME);
    assert_int_equal(next_step(claim_of("{}"), own_class(), NULL), CLAIM_MAKE_VOLUME);
    assert_null(event.message);
    /* Users create the volumes of these classes. The name "" stands for no class. */
    assert_int_equal(
        next_step(claim_of("{}"), parse("{'provisioner':'kubernetes.io/no-provisioner'}"), NULL),
        CLAIM_WAIT);
    assert_int_equal(next_step(claim_of("{'storageClassName':''}"), NULL, NULL), CLAIM_WAIT);
    overdue = false;
}

static void test_first_consumer(void **state)
{
    struct json *class_ = with(own_class(), "{'volumeBindingMode':'WaitForFirstConsumer'}");
    struct json *claim = claim_of("{}");
    assert_int_equal(next_step(claim, class_, NULL), CLAIM_WAIT);
    assert_string_equal(event.reason, "WaitForFirstConsumer");
    assert_string_equal(event.message, "waiting for first consumer to be created before binding");
    assert_int_equal(next_step(claim, class_, volume_of("free", "1Gi")), CLAIM_WAIT);
    used = true;
    assert_int_equal(next_step(claim, class_, volume_of("free", "1Gi")), CLAIM_PATCH_VOLUME);
    assert_int_equal(next_step(claim, class_, NULL), CLAIM_MAKE_VOLUME);
    struct json *volume = claim_make_volume(arena, claim, class_);
    used = false; /* a step that was begun is completed */
    assert_int_equal(next_step(claim, class_, volume), CLAIM_PATCH_CLAIM);
    assert_string_equal(event.reason, "ProvisioningSucceeded");
    assert_string_equal(event.message, "Successfully provisioned volume pvc-u");
}

static void test_reserved_volume_is_preferred(void **state)
{
    struct json *claim = claim_of("{}");
    struct json *small = volume_of("small", "1Gi"), *large = volume_of("large", "9Gi");
    assert_true(claim_prefers(arena, claim, large, NULL));
    assert_true(claim_prefers(arena, claim, small, large));
    assert_false(claim_prefers(arena, claim, large, small));
    assert_false(claim_prefers(arena, claim, volume_of("tiny", "1Mi"), NULL));
    /* A volume that is reserved for the claim is taken before all others, and by no other claim. */
    struct json *kept = with(large, "{'spec':{'claimRef':{'namespace':'d','name':'c'}}}");
    assert_true(claim_prefers(arena, claim, kept, small));
    assert_false(claim_prefers(arena, claim, small, kept));
    assert_false(claim_prefers(arena, with(claim, "{'metadata':{'name':'b'}}"), kept, NULL));
    assert_false(claim_prefers(arena, claim,
                               with(kept, "{'spec':{'claimRef':{'uid':'of another'}}}"), NULL));
    assert_false(claim_prefers(arena, claim, with(small, "{'status':{'phase':'Released'}}"), NULL));
    assert_false(claim_prefers(
        arena, claim, with(small, "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}"),
        NULL));
    claim = claim_of("{'selector':{'matchLabels':{'a':'b'}}}");
    assert_false(claim_prefers(arena, claim, small, NULL));
    assert_true(
        claim_prefers(arena, claim, with(small, "{'metadata':{'labels':{'a':'b'}}}"), NULL));
}

static void test_claim_deletion(void **state)
{
    struct claim_view view = {
        .claim = with(claim_of("{}"), "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z',"
                                      "'finalizers':['" CLAIM_PROTECTION "','x/y']}}"),
        .used = true,
    };
    assert_int_equal(claim_next_step(arena, &view, &patch, &event), CLAIM_DONE);
    view.used = false;
    assert_int_equal(claim_next_step(arena, &view, &patch, &event), CLAIM_UNPROTECT);
    view.claim = kube_patch_merge(arena, view.claim, patch);
    assert_true(kube_meta_has_finalizer(view.claim, "x/y"));
    assert_int_equal(claim_next_step(arena, &view, &patch, &event), CLAIM_DONE);

    struct json *pod = parse("{'spec':{'volumes':[{'persistentVolumeClaim':{'claimName':'c'}}]}}");
    const struct json *other = parse("{'metadata':{'name':'b','namespace':'d'}}");
    assert_false(claim_is_used_by(view.claim, pod)); /* no node runs the pod */
    pod = with(pod, "{'spec':{'nodeName':'n'},'status':{'phase':'Succeeded'}}");
    assert_true(claim_is_used_by(view.claim, pod));
    assert_false(claim_is_used_by(other, pod));
}

/* A pod keeps its ephemeral claim until the pod has ended. Another pod of the same name does not
 * keep it. */
static void test_ephemeral_claim_of_a_pod(void **state)
{
    struct json *pod = parse("{'metadata':{'name':'p','namespace':'d','uid':'1'},'spec':{"
                             "'nodeName':'n','volumes':[{'name':'v','ephemeral':{}}]}}");
    struct json *stranger = parse("{'metadata':{'name':'p-v','namespace':'d','uid':'u'}}");
    struct json *claim = with(stranger, "{'metadata':{'ownerReferences':[{'kind':'Pod','name':'p',"
                                        "'uid':'1','controller':true}]}}");
    assert_true(claim_is_used_by(claim, pod));
    assert_false(claim_is_used_by(stranger, pod));
    pod = with(pod, "{'metadata':{'deletionTimestamp':'2026-01-02T03:04:05Z',"
                    "'deletionGracePeriodSeconds':30}}");
    assert_true(claim_is_used_by(claim, pod));
    pod = with(pod, "{'metadata':{'deletionGracePeriodSeconds':0}}");
    assert_false(claim_is_used_by(claim, pod));
    const struct json *volume = claim_make_volume(arena, claim, NULL);
    assert_string_equal(kube_meta_annotation(volume, VOLUME_DIRECTORY_ANNOTATION), "d/pvc-u");
}

static enum volume_step volume_next(const struct json *volume, const struct json *claim)
{
    return claim_volume_next_step(arena, volume, claim, &patch);
}

static void test_volume_deletion(void **state)
{
    struct json *claim = claim_of("{}");
    struct json *volume = with(claim_make_volume(arena, claim, own_class()),
                               "{'metadata':{'finalizers':['" CLAIM_VOLUME_PROTECTION "']},"
                               "'status':{'phase':'Bound'}}");
    assert_int_equal(volume_next(volume, claim), VOLUME_DONE);
    /* A pod that is deleted in the foreground waits for its claim. */
    struct json *deleted =
        with(volume, "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}");
    assert_int_equal(volume_next(deleted, claim), VOLUME_DONE);
    assert_int_equal(volume_next(volume, with(claim, "{'metadata':{'uid':'next'}}")),
                     VOLUME_PATCH_STATUS);
    assert_int_equal(volume_next(volume, NULL), VOLUME_PATCH_STATUS);
    volume = kube_patch_merge(arena, volume, patch);
    assert_string_equal(json_get_string(json_get(volume, "status"), "phase", ""), "Released");
    assert_int_equal(volume_next(volume, NULL), VOLUME_DELETE);
    volume = with(volume, "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}");
    assert_int_equal(volume_next(volume, NULL), VOLUME_UNPROTECT);
    assert_int_equal(volume_next(kube_patch_merge(arena, volume, patch), NULL), VOLUME_DONE);
}

static void test_volume_retained(void **state)
{
    struct json *volume =
        with(volume_of("v", "1Gi"),
             "{'spec':{'persistentVolumeReclaimPolicy':'Retain','claimRef':{"
             "'namespace':'d','name':'c','uid':'u'}},'status':{'phase':'Bound'}}");
    assert_int_equal(volume_next(volume, NULL), VOLUME_PATCH_STATUS);
    volume = kube_patch_merge(arena, volume, patch);
    assert_int_equal(volume_next(volume, NULL), VOLUME_DONE);
    /* A user makes the volume available again. */
    volume = with(volume, "{'spec':{'claimRef':null}}");
    assert_int_equal(volume_next(volume, NULL), VOLUME_PATCH_STATUS);
    volume = kube_patch_merge(arena, volume, patch);
    assert_string_equal(json_get_string(json_get(volume, "status"), "phase", ""), "Available");
    assert_int_equal(volume_next(volume, NULL), VOLUME_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volume_created_for_claim),
        cmocka_unit_test(test_volume_created_by_user),
        cmocka_unit_test(test_claim_waits_with_a_reason),
        cmocka_unit_test(test_classes_without_provisioner),
        cmocka_unit_test(test_first_consumer),
        cmocka_unit_test(test_reserved_volume_is_preferred),
        cmocka_unit_test(test_claim_deletion),
        cmocka_unit_test(test_volume_deletion),
        cmocka_unit_test(test_volume_retained),
        cmocka_unit_test(test_ephemeral_claim_of_a_pod),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
