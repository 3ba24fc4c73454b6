/* Implements the embedded files; see asset.h. The build sets TRAINYARD_WEB to the path of web/. */
#include "serve/asset.h"

#define EMBED(name, file)                                                                          \
    __asm__(".section .rodata\n"                                                                   \
            ".global asset_" #name "_start\n"                                                      \
            "asset_" #name "_start:\n"                                                             \
            ".incbin \"" TRAINYARD_WEB "/" file "\"\n"                                             \
            ".global asset_" #name "_end\n"                                                        \
            "asset_" #name "_end:\n"                                                               \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char asset_##name##_start[], asset_##name##_end[];                                \
    struct asset asset_##name(void)                                                                \
    {                                                                                              \
        return (struct asset){asset_##name##_start,                                                \
                              (size_t)(asset_##name##_end - asset_##name##_start)};                \
    }

EMBED(classifier_html, "classifier.html")
EMBED(help_html, "help.html")
EMBED(icon_svg, "icon.svg")
EMBED(page_js, "page.js")
EMBED(style_css, "style.css")
EMBED(upload_html, "upload.html")
