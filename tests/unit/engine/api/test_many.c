/* Tests objects with tens of thousands of elements. The API runs on one thread, so quadratic work
 * would block all other clients for minutes. Then this test runs into its time limit. */
#include "api.h"

#include "base/buf.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CORE "/api/v1/namespaces/default/"

/* The beginning of a definition of kind A in group x.io. The versions follow. */
#define DEFINITION                                                                                 \
    "{'metadata':{'name':'as.x.io'},'spec':{'group':'x.io','scope':'Namespaced','names':{"         \
    "'plural':'as','singular':'a','kind':'A','listKind':'AList'},'versions':"
#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static const struct row {
    const char *path;
    int count;
    /* ' stands for ". The text between < and > is repeated, separated by commas, and # in it counts
     * from 1. */
    const char *body;
    int status;
    const char *message; /* a part of the response's message; NULL: not checked */
    const char *at, *is; /* a field of the response, if `at` is not NULL */
    /* an object that is created before, in the form of `body`; or NULL */
    const char *given_path, *given;
} rows[] = {
    {CORE "secrets", 150000,
     "{'metadata':{'name':'many'},'data':{'k7':'YQ==','old':'YQ=='},"
     "'stringData':{'z':'',<'k#':'v'>}}",
     201, NULL, "data.k7", "dg=="},
    {CORE "configmaps", 75000,
     "{'metadata':{'name':'many'},'data':{'z':'',<'k#':'v'>},'binaryData':{'k74999':'',<'b#':''>}}",
     422, "data[k74999]: Invalid value: \"k74999\": duplicate of key", NULL, NULL},
    {CORE "pods", 15000,
     "{'metadata':{'name':'many'},'spec':{'volumes':[<{'name':'v#','emptyDir':{}}>],"
     "'containers':[{'name':'c','image':'x','volumeMounts':[<{'name':'v#','mountPath':'/#'}>,"
     "{'name':'none','mountPath':'/none'}]}]}}",
     422,
     "Pod \"many\" is invalid: spec.containers[0].volumeMounts[15000].name: Not found: \"none\"",
     NULL, NULL},
    {CORE "pods", 60000,
     "{'metadata':{'name':'many'},'spec':{'containers':[{'name':'c','image':'x','resources':{"
     "'requests':{'cpu':1},'limits':{'cpu':2,<'x.io/#':1>}}}]}}",
     201, NULL, "spec.containers.0.resources.requests.cpu", "1"},
    {"/api/v1/nodes", 30000,
     "{'metadata':{'name':'many'},'spec':{'taints':[<{'key':'k#','effect':'NoSchedule'}>,"
     "{'key':'k1','effect':'NoSchedule'}]}}",
     422, "Node \"many\" is invalid: metadata.taints[30000]: Duplicate value: \"k1:NoSchedule\"",
     NULL, NULL},
    {CORE "resourcequotas", 60000,
     "{'metadata':{'name':'many'},'spec':{'hard':{'pods':'1',<'count/r#.x.io':'1'>}}}", 201, NULL,
     "status.used.pods", "0"},
    {CORE "services", 28000,
     "{'metadata':{'name':'many'},'spec':{'type':'NodePort','ports':[<{'name':'p#','port':#}>]}}",
     422,
     "Service \"many\" is invalid: [spec.ports[2768].nodePort: Invalid value: 0: all ports of the "
     "range 30000-32767 are taken",
     NULL, NULL},
    {CORE "services", 100000,
     "{'metadata':{'name':'many'},'spec':{'ipFamilies':['IPv4',<'IPv4'>],'ports':[{'port':1}]}}",
     422, "Service \"many\" is invalid: [spec.ipFamilies[1]: Duplicate value: \"IPv4\"", NULL,
     NULL},
    {CORE "services", 60000,
     "{'metadata':{'name':'many'},'spec':{'clusterIP':'10.96.0.9','clusterIPs':['10.96.0.9',"
     "<'::#'>],'ports':[{'port':1}]}}",
     422, "Service \"many\" is invalid: [spec.clusterIPs[1]: Invalid value: [\"10.96.0.9\"", NULL,
     NULL},
    {CORE "limitranges", 30000,
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Container','max':{'cpu':3,<'x.io/"
     "#':3>},"
     "'default':{'cpu':2,<'x.io/#':2>}}]}}",
     201, NULL, "spec.limits.0.defaultRequest.cpu", "2"},
    {CORE "limitranges", 18000,
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Container','min':{<'x.io/#':2>},"
     "'max':{<'x.io/#':1>},'maxLimitRequestRatio':{<'x.io/#':3>}}]}}",
     422,
     "LimitRange \"many\" is invalid: [spec.limits[0].min[x.io/1]: Invalid value: \"2\": min value "
     "2 is greater than max value 1",
     NULL, NULL},
    {CORE "limitranges", 30000,
     "{'metadata':{'name':'many'},'spec':{'limits':[<{'type':'x.io/t#','max':{'cpu':1}}>,"
     "{'type':'x.io/t1','max':{'cpu':1}}]}}",
     422, "LimitRange \"many\" is invalid: spec.limits[30000].type: Duplicate value: \"x.io/t1\"",
     NULL, NULL},
    {CORE "pods", 20000,
     "{'metadata':{'name':'many'},'spec':{'containers':[{'name':'c','image':'x','resources':{"
     "'requests':{<'x.io/#':1>},'limits':{<'x.io/#':1>}}}]}}",
     403,
     "pods \"many\" is forbidden: [minimum y.io/1 usage per Pod is 1.  No request is "
     "specified, minimum y.io/2 usage",
     NULL, NULL, CORE "limitranges",
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Pod','min':{<'y.io/#':1>}},"
     "{'type':'Container','default':{<'z.io/#':1>}}]}}"},
    {CORE "pods", 15000,
     "{'metadata':{'name':'many'},'spec':{'containers':[<{'name':'c#','image':'x'}>]}}", 201, NULL,
     "spec.containers.999.resources.requests.cpu", "1", CORE "limitranges",
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Container','default':{'cpu':1}}]}}"},
    {CORE "pods", 15000,
     "{'metadata':{'name':'many'},'spec':{'containers':[<{'name':'c#','image':'x'}>]}}", 403,
     "pods \"many\" is forbidden: it has too many containers for the number of limits in the "
     "LimitRanges of its namespace: use fewer of either",
     NULL, NULL, CORE "limitranges",
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Container','default':{<'x.io/#':1>}}]"
     "}}"},
    {CORE "pods", 30000,
     "{'metadata':{'name':'many'},'spec':{'containers':[{'name':'c','image':'x','resources':{"
     "'limits':{'cpu':2,<'x.io/#':1>}}}]}}",
     403, "maximum cpu usage per Pod is 1, but limit is 2", NULL, NULL, CORE "limitranges",
     "{'metadata':{'name':'many'},'spec':{'limits':[{'type':'Pod','max':{'cpu':1}}]}}"},
    {CORE "pods", 15000,
     "{'metadata':{'name':'many'},'spec':{'containers':[{'name':'c','image':'x'}],"
     "'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'k9','whenUnsatisfiable':"
     "'ScheduleAnyway'},<{'maxSkew':1,'topologyKey':'k#','whenUnsatisfiable':'ScheduleAnyway'}>]}}",
     422,
     "Pod \"many\" is invalid: spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: "
     "Duplicate value: \"{k9, ScheduleAnyway}\"",
     NULL, NULL},
    {"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", 40000,
     "{'metadata':{'name':'many'},'addressType':'IPv4','endpoints':[],'ports':[<{'name':'p#',"
     "'port':#}>,{'name':'p1','port':1}]}",
     422,
     "EndpointSlice.discovery.k8s.io \"many\" is invalid: ports[40000].name: Duplicate value: "
     "\"p1\"",
     NULL, NULL},
    {"/apis/batch/v1/namespaces/default/jobs", 60000,
     "{'metadata':{'name':'many'},'spec':{'template':{'metadata':{'labels':{<'k#':'v'>}},'spec':{"
     "'restartPolicy':'Never','containers':[{'name':'c','image':'x'}]}}}}",
     201, NULL, "metadata.labels.k60000", "v"},
    {DEFINITIONS, 30000,
     DEFINITION "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
                "'type':'object','properties':{<'p#':{'type':'string'}>},'required':[<'p#'>]}}}]}}",
     201, NULL, "spec.names.kind", "A"},
    {DEFINITIONS, 20000,
     DEFINITION
     "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
     "'properties':{'spec':{'type':'array','x-kubernetes-list-type':'map',"
     "'x-kubernetes-list-map-keys':[<'p#'>,'none'],'items':{'type':'object','required':[<'p#'>],"
     "'properties':{<'p#':{'type':'string'}>}}}}}}}]}}",
     422, "entries must all be names of item properties", NULL, NULL},
    {DEFINITIONS, 8000,
     DEFINITION "[<{'name':'v#','served':true,'storage':false,'schema':{'openAPIV3Schema':{"
                "'type':'object'}}}>,{'name':'v1','served':true,'storage':true,'schema':{"
                "'openAPIV3Schema':{'type':'object'}}}]}}",
     422, "must contain unique version names", NULL, NULL},
    {CORE "pods", 30000,
     "{'metadata':{'name':'many'},'spec':{'containers':[{'name':'c','image':'x','resources':{"
     "'requests':{<'x.io/#':1>},'limits':{<'x.io/#':1>}}}]}}",
     201, NULL, "status.phase", "Pending"},
    {"/apis/x.io/v1/namespaces/default/as", 20000,
     "{'apiVersion':'x.io/v1','kind':'A','metadata':{'name':'many'},<'p#':'v'>,'p0':1}", 422,
     "A.x.io \"many\" is invalid: p0: Invalid value: \"integer\": p0 in body must be of type "
     "string: \"integer\"",
     NULL, NULL, DEFINITIONS,
     DEFINITION "[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{"
                "'type':'object','properties':{'p0':{'type':'string'},<'p#':{'type':'string'}>},"
                "'required':['p0',<'p#'>]}}}]}}"},
};

/* Returns the text with its parts repeated, in the caller's `body`. */
static const char *grow(struct buf *body, const char *text, int count)
{
    buf_clear(body);
    const char *from = NULL; /* where the repeated part begins */
    int number = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '<') {
            from = c;
            number = 1;
        } else if (*c == '>' && number < count) {
            buf_append_char(body, ',');
            c = from;
            number++;
        } else if (*c == '#') {
            buf_printf(body, "%d", number);
        } else if (*c != '>') {
            buf_append_char(body, *c == '\'' ? '"' : *c);
        }
    }
    return body->data;
}

static void test_rows(void **state)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        void *fixture;
        _cleanup_buf_ struct buf body;
        print_message("%s: %.100s\n", row->path, row->body);
        buf_init(&body, 16 << 20);
        assert_int_equal(api_controlled_setup(&fixture), 0); /* the scheduler reads pods, too */
        struct api *api = fixture;
        if (row->given)
            assert_int_equal(
                api_post(api, row->given_path, grow(&body, row->given, row->count)).status, 201);
        struct answer answer = api_post(api, row->path, grow(&body, row->body, row->count));
        assert_int_equal(answer.status, row->status);
        if (row->message && !strstr(answer_message(&answer), row->message))
            fail_msg("%.1000s", answer_message(&answer));
        if (row->at)
            assert_string_equal(answer_at(api, &answer, row->at), row->is);
        api_controlled_teardown(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
